#include "engine/generate/early_prefill.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "engine/base/aligned_buffer.h"
#include "engine/base/mat_view.h"
#include "engine/base/result.h"
#include "engine/generate/context.h"
#include "engine/generate/sequence.h"
#include "engine/kernels/layout.h"
#include "engine/model/forward.h"
#include "engine/model/kv_cache.h"
#include "engine/model/weights.h"

namespace gpt2 {

Result<EarlyPrefill> EarlyPrefill::Create(const Weights& weights, const Compute& compute,
                                          KvFormat kv_format,
                                          std::span<const std::int32_t> window) {
  GPT2_ASSIGN(Context context, Context::Create(weights, compute, kv_format));
  context.sequence().SetWindow(window);
  const std::size_t stride = RoundUp(weights.config.n_embd, kTileRows);
  GPT2_ASSIGN(AlignedBuffer<float> residuals,
              AlignedBuffer<float>::Create(window.size() * stride, "the prompt's activations"));
  return EarlyPrefill(std::move(context), std::move(residuals));
}

void EarlyPrefill::Step() {
  Sequence& sequence = context_.sequence();
  const Config& config = context_.config();
  const std::size_t count = std::min(kMaxBatch, sequence.window().size() - first_);
  const std::size_t stride = RoundUp(config.n_embd, kTileRows);
  context_.RunLayer(layer_, first_,
                    {residuals_.data() + first_ * stride, count, config.n_embd, stride});
  first_ += count;
  if (first_ < sequence.window().size()) return;
  first_ = 0;
  if (++layer_ < config.n_layer) return;
  while (!sequence.is_current()) sequence.Advance();
}

}  // namespace gpt2
