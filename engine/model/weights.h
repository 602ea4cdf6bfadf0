// The parameters of a GPT-2, and the one table that names them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/base/aligned_buffer.h"
#include "engine/base/mat_view.h"
#include "engine/base/result.h"
#include "engine/model/config.h"
#include "engine/model/matrix.h"

namespace gpt2 {

struct LayerNormWeights {
  AlignedBuffer<float> gain;  // [n_embd]
  AlignedBuffer<float> bias;  // [n_embd], zeros where the checkpoint has none
};

// y = x W^T + b
struct LinearWeights {
  Matrix weight;              // [out, in]
  AlignedBuffer<float> bias;  // [out rounded up to whole tiles], zeros where there is none
};

struct BlockWeights {
  LayerNormWeights ln_1;
  LinearWeights attn_qkv;  // [3 * n_embd, n_embd]: queries, keys, values
  LinearWeights attn_out;  // [n_embd, n_embd]
  LayerNormWeights ln_2;
  LinearWeights mlp_up;    // [n_inner, n_embd]
  LinearWeights mlp_down;  // [n_embd, n_inner]
};

// Owns all parameters. Read-only once loaded, and then free to share between threads.
struct Weights {
  Config config;
  Matrix wte;                // token embedding [vocab_size, n_embd]
  AlignedBuffer<float> wpe;  // position embedding [n_positions, n_embd]
  std::vector<BlockWeights> blocks;
  LayerNormWeights ln_f;
  Matrix lm_head;                     // [vocab_size, n_embd]; empty when tied to wte
  AlignedBuffer<float> lm_head_bias;  // [vocab_size rounded up to whole tiles]
  std::size_t parameter_count = 0;    // values that the checkpoint holds; a tied head counts once
  std::size_t bytes = 0;              // memory that they take here

  // Of the blocks' matrices; the embedding and the head of a q4 model are q8.
  WeightFormat format() const {
    return blocks.empty() ? wte.format() : blocks.front().mlp_up.weight.format();
  }
  const Matrix& head() const { return config.tie_word_embeddings ? wte : lm_head; }
};

// One tensor of a checkpoint and where it goes. Exactly one of `matrix` and `floats` is set.
struct TensorSlot {
  std::string name;  // as on the hub, without "transformer."
  std::string part;  // what inspect sums it under: "embeddings", "attention", "mlp", ...
  std::size_t rows;  // [rows, cols] is [out, in] for a matrix, [1, n] for a vector
  std::size_t cols;
  bool is_vector;    // stored with one dimension
  bool is_conv1d;    // the hub stores its transpose, [in, out]
  bool is_required;  // biases may be absent: they are then zero
  Matrix* matrix;
  AlignedBuffer<float>* floats;  // [rows, cols]
};

// Every tensor that a model of `weights.config` can have, in the order in which the forward pass
// needs them. Sizes weights.blocks. The pointers lead into `weights`, which must outlive the slots
// unmoved.
std::vector<TensorSlot> TensorSlots(Weights& weights);

// Gives slot's target its memory, a matrix in `format` (which falls back to kF32 below one group of
// inputs). Vectors, which a checkpoint may lack, are zero; the rest is for the caller to set.
Status AllocateSlot(const TensorSlot& slot, WeightFormat format);

}  // namespace gpt2
