#include "engine/generate/context.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <string>

#include "engine/kernels/scalar_math.h"

namespace gpt2 {

Result<Context> Context::Create(const Weights& weights, const Compute& compute,
                                KvFormat kv_format) {
  Context context(weights, compute);
  const Config& config = weights.config;
  GPT2_ASSIGN(context.cache_, KvCache::Create(config, kv_format));
  GPT2_ASSIGN(context.scratch_, Scratch::Create(config));
  GPT2_ASSIGN(context.logits_,
              AlignedBuffer<float>::Create(kLogitRows * LogitsStride(config), "logits"));
  context.window_.reserve(config.n_positions);
  return context;
}

Status Context::CheckIds(std::span<const std::int32_t> ids) const {
  const auto vocab_size = static_cast<std::int64_t>(config().vocab_size);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= 0 && ids[i] < vocab_size) continue;
    return Error{ErrorCode::kInvalidArgument, "token id " + std::to_string(ids[i]) + " at index " +
                                                  std::to_string(i) + ", expected 0 to " +
                                                  std::to_string(vocab_size - 1)};
  }
  return Done{};
}

void Context::SetWindow(std::span<const std::int32_t> window) {
  assert(!window.empty() && window.size() <= config().n_positions);
  const auto comparable = static_cast<std::ptrdiff_t>(std::min(cached_, window.size()));
  const auto [end, other] =
      std::mismatch(window.begin(), window.begin() + comparable, window_.begin());
  cached_ = std::min(static_cast<std::size_t>(end - window.begin()), window.size() - 1);
  window_.assign(window.begin(), window.end());
}

std::size_t Context::Push(std::int32_t id) {
  std::size_t dropped = 0;
  if (window_.size() == config().n_positions) {
    dropped = window_.size() - window_.size() * 3 / 4;
    window_.erase(window_.begin(), window_.begin() + static_cast<std::ptrdiff_t>(dropped));
    cached_ = 0;
  }
  window_.push_back(id);
  return dropped;
}

std::size_t Context::RunNext(std::size_t most, const Trace* trace) {
  std::array<TokenRow, kMaxRows> rows;
  const std::size_t count = std::min({most, kMaxRows, window_.size() - cached_});
  for (std::size_t i = 0; i < count; ++i) {
    rows[i] = {window_[cached_ + i], cached_ + i, &cache_};
  }
  Forward(*weights_, compute_, {rows.data(), count}, scratch_, trace);
  cached_ += count;
  return count;
}

MatView<const float> Context::Logits(std::size_t first, std::size_t count) {
  assert(count <= kLogitRows);
  const MatView<float> logits{logits_.data(), count, config().vocab_size, LogitsStride(config())};
  const MatView<const float> normed{scratch_.normed.Row(first).data(), count, scratch_.normed.cols,
                                    scratch_.normed.stride};
  ComputeLogits(*weights_, compute_, normed, scratch_, logits);
  return logits;
}

LogSoftmax::LogSoftmax(const Compute& compute, std::span<const float> logits) {
  const SoftmaxSums sums = compute.kernels->SoftmaxStats(logits.data(), logits.size());
  log_sum_ = static_cast<double>(sums.maximum) + Log(static_cast<double>(sums.sum));
}

}  // namespace gpt2
