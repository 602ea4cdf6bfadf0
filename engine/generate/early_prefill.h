// Prefills a prompt while the model is still loading.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "engine/base/aligned_buffer.h"
#include "engine/base/result.h"
#include "engine/generate/context.h"
#include "engine/model/forward.h"
#include "engine/model/kv_cache.h"
#include "engine/model/weights.h"

namespace gpt2 {

// Context::Prefill in another order: all tokens through the first layer, then all through the
// second, and so on. So a layer can run as soon as its weights have arrived. The result is
// bit-identical, because a token's result does not depend on the other tokens of its batch. The
// residual stream of the whole prompt is kept between layers: 4 * n_embd bytes per token, at most
// 6.5 MB for a GPT-2. Not thread-safe. Borrows the weights and the compute resources.
class EarlyPrefill {
 public:
  // `window` has 1 to n_positions tokens. Only the sizes of `weights` are read.
  static Result<EarlyPrefill> Create(const Weights& weights, const Compute& compute,
                                     KvFormat kv_format, std::span<const std::int32_t> window);

  // The number of layers that the whole prompt has run through.
  std::size_t layers() const { return layer_; }

  // Runs up to kMaxBatch tokens through the next layer. Its weights and the embeddings must have
  // arrived. Do not call it after the last layer.
  void Step();

  // Moves the context out. Its cache holds the prompt if the prompt has run through all layers,
  // else nothing.
  Context TakeContext() { return std::move(context_); }

 private:
  EarlyPrefill(Context context, AlignedBuffer<float> residuals)
      : context_(std::move(context)), residuals_(std::move(residuals)) {}

  Context context_;
  AlignedBuffer<float> residuals_;  // [tokens, n_embd in whole tiles]
  std::size_t layer_ = 0;           // the layer that runs next
  std::size_t first_ = 0;           // the first token that has not run through it
};

}  // namespace gpt2
