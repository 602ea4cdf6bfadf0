// The parameters of a GPT-2, and the table of its tensors in a checkpoint.
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
  AlignedBuffer<float> bias;  // [n_embd], zeros if the checkpoint has none
};

// y = x W^T + b
struct LinearWeights {
  Matrix weight;              // [out, in]
  AlignedBuffer<float> bias;  // [out rounded up to whole tiles], zeros if there is none
};

struct BlockWeights {
  LayerNormWeights ln_1;
  LinearWeights attn_qkv;  // [qkv_width, n_embd]: see Config::ColumnsOf
  LinearWeights attn_out;  // [n_embd, n_embd]
  LayerNormWeights ln_2;
  LinearWeights mlp_up;    // [n_inner, n_embd]
  LinearWeights mlp_down;  // [n_embd, n_inner]
};

// Owns all parameters. Read-only after loading, and then safe to share between threads.
struct Weights {
  // Allocates no memory for the tensors: see Allocate.
  explicit Weights(const Config& shape) : config(shape), blocks(shape.n_layer) {}

  Config config;
  Matrix wte;                // token embedding [vocab_size, n_embd]
  AlignedBuffer<float> wpe;  // position embedding [n_positions, n_embd]
  std::vector<BlockWeights> blocks;
  LayerNormWeights ln_f;
  Matrix lm_head;                     // [vocab_size, n_embd]; empty when tied to wte
  AlignedBuffer<float> lm_head_bias;  // [vocab_size rounded up to whole tiles]
  std::size_t parameter_count = 0;    // number of values in the checkpoint; a tied head counts once
  std::size_t bytes = 0;              // bytes in memory

  // The format of the blocks' matrices; the embedding and the head of a q4 model are q8.
  WeightFormat format() const {
    return blocks.empty() ? wte.format() : blocks.front().mlp_up.weight.format();
  }
  const Matrix& head() const { return config.tie_word_embeddings ? wte : lm_head; }
};

enum class TensorKind {
  kEmbedding,  // a matrix [rows, cols]
  kLinear,     // a matrix [rows, cols] = [out, in] of a block
  kConv1d,     // the same, stored transposed on the Hub
  kPositions,  // floats [rows, cols]
  kGain,       // a vector of floats [cols]
  kBias,       // the same; if the checkpoint lacks it, it is zero
};

struct TensorPlace;  // where Weights keeps a tensor

// One tensor that a checkpoint of a model can have.
struct TensorSpec {
  std::string name;  // as on the Hub, without "transformer."
  const char* part;  // its group in the output of inspect: "embeddings", "attention", "mlp", ...
  TensorKind kind;
  std::size_t rows;  // 1 for a vector
  std::size_t cols;
  const TensorPlace* place;
  std::size_t layer;  // the first layer that needs it; n_layer: needed after the last layer

  bool is_conv1d() const { return kind == TensorKind::kConv1d; }
  bool is_block_matrix() const { return kind == TensorKind::kLinear || is_conv1d(); }
  bool is_matrix() const { return kind == TensorKind::kEmbedding || is_block_matrix(); }
  bool is_vector() const { return kind == TensorKind::kGain || kind == TensorKind::kBias; }
  bool is_required() const { return kind != TensorKind::kBias; }
};

// Every tensor that a model of `config` can have, in the order in which the forward pass needs
// them.
std::vector<TensorSpec> TensorSpecs(const Config& config);

// The place of a tensor in some weights: `matrix` is set if its spec is_matrix(), otherwise
// `floats`.
struct TensorRef {
  Matrix* matrix = nullptr;
  AlignedBuffer<float>* floats = nullptr;  // at least [rows, cols]
};
struct ConstTensorRef {
  const Matrix* matrix = nullptr;
  const AlignedBuffer<float>* floats = nullptr;
};

// `spec` belongs to weights.config. `weights` must outlive the result and not move.
TensorRef Bind(const TensorSpec& spec, Weights& weights);
ConstTensorRef Bind(const TensorSpec& spec, const Weights& weights);

// Allocates a tensor's memory in `weights`, for a matrix in `format` (or kF32 below one group of
// inputs). Vectors, which a checkpoint may lack, are zero; the caller must set the rest.
Status Allocate(const TensorSpec& spec, WeightFormat format, Weights& weights);

}  // namespace gpt2
