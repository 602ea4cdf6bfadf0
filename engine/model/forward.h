// The forward pass of GPT-2 (Radford et al. 2019): a batch of tokens in, residual stream and logits
// out. Prefill, decode and batches of sequences run the same code. A token's result depends neither
// on the other tokens of its batch, nor on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/base/aligned_buffer.h"
#include "engine/base/mat_view.h"
#include "engine/base/result.h"
#include "engine/base/thread_pool.h"
#include "engine/kernels/kernels.h"
#include "engine/model/hooks.h"
#include "engine/model/kv_cache.h"
#include "engine/model/weights.h"

namespace gpt2 {

// The compute resources: kernels and threads. Borrowed; both outlive the calls.
struct Compute {
  const KernelTable* kernels;
  ThreadPool* pool;
};

// One token to run: `id` < vocab_size is at `position` < n_positions of the sequence whose keys and
// values are in `cache`. In a batch, tokens of one sequence are in order of position.
struct BatchToken {
  std::int32_t id;
  std::size_t position;
  KvCache* cache;
};

// The most tokens per call. It is large enough that prefill reuses each weight tile many times. It
// is small enough that activations stay in the second-level cache and that a stop takes effect
// quickly.
inline constexpr std::size_t kMaxBatch = 64;

// Every intermediate value of a forward pass, for up to kMaxBatch tokens. Only one thread at a time
// may use it.
class Scratch {
 public:
  static Result<Scratch> Create(const Config& config);

  MatView<float> x;       // residual stream [kMaxBatch, n_embd]
  MatView<float> normed;  // [kMaxBatch, n_embd]
  MatView<float> qkv;     // [kMaxBatch, qkv_width]
  MatView<float> mixed;   // attention's output [kMaxBatch, n_embd]
  MatView<float> hidden;  // [kMaxBatch, n_inner]
  MatView<float> delta;   // what a sublayer adds to x [kMaxBatch, n_embd]

  // Room for the input of any Linear in integer codes, for kMaxBatch tokens in blocks: see
  // QuantizedActivations.
  std::int8_t* codes = nullptr;     // for each token, the widest input in whole groups
  float* scales = nullptr;          // one for each group
  std::int32_t* offsets = nullptr;  // one for each group

  std::size_t bytes() const { return floats_.bytes() + codes_.bytes() + offsets_.bytes(); }

 private:
  AlignedBuffer<float> floats_;
  AlignedBuffer<std::int8_t> codes_;
  AlignedBuffer<std::int32_t> offsets_;
};

// x [tokens, n_embd] = wte[token] + wpe[position] of `batch`, 1 to kMaxBatch tokens. `hooks` may be
// null, here and below.
void Embed(const Weights& weights, const Compute& compute, std::span<const BatchToken> batch,
           Scratch& scratch, MatView<float> x, Hooks* hooks = nullptr);

// Runs `batch` through one layer: appends that layer's keys and values to the caches of the tokens.
// Updates their residual stream x [tokens, n_embd] in place. Reads nothing from other layers.
void RunBlock(const Weights& weights, const Compute& compute, std::span<const BatchToken> batch,
              std::size_t layer, Scratch& scratch, MatView<float> x, Hooks* hooks = nullptr);

// Runs `batch` (1 to kMaxBatch tokens) through the model. Appends their keys and values to their
// caches, and leaves the output of ln_f in scratch.normed [tokens, n_embd].
void Forward(const Weights& weights, const Compute& compute, std::span<const BatchToken> batch,
             Scratch& scratch, Hooks* hooks = nullptr);

// normed [rows, n_embd] = ln_f of residual streams x [rows, n_embd].
void FinalLayerNorm(const Weights& weights, const Compute& compute, MatView<const float> x,
                    MatView<float> normed);

// logits [normed.rows, vocab_size] of tokens of scratch.normed, at most kMaxBatch of them. The
// stride of `logits` holds the vocabulary rounded up to whole tiles (LogitsStride).
void ComputeLogits(const Weights& weights, const Compute& compute, MatView<const float> normed,
                   Scratch& scratch, MatView<float> logits);

// The distance in values between the logits of consecutive tokens.
std::size_t LogitsStride(const Config& config);

}  // namespace gpt2
