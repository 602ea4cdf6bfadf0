#include "engine/generate/sequence.h"

#include <algorithm>
#include <cassert>

namespace gpt2 {

Result<Sequence> Sequence::Create(const Config& config, KvFormat kv_format) {
  Sequence sequence;
  GPT2_ASSIGN(sequence.cache_, KvCache::Create(config, kv_format));
  sequence.capacity_ = config.n_positions;
  sequence.window_.reserve(config.n_positions);
  return sequence;
}

void Sequence::SetWindow(std::span<const std::int32_t> window) {
  assert(!window.empty() && window.size() <= capacity_);
  const auto comparable = static_cast<std::ptrdiff_t>(std::min(cached_, window.size()));
  const auto [end, other] =
      std::mismatch(window.begin(), window.begin() + comparable, window_.begin());
  cached_ = std::min(static_cast<std::size_t>(end - window.begin()), window.size() - 1);
  window_.assign(window.begin(), window.end());
}

std::size_t Sequence::Push(std::int32_t id) {
  std::size_t dropped = 0;
  if (window_.size() == capacity_) {
    dropped = window_.size() - window_.size() * 3 / 4;
    window_.erase(window_.begin(), window_.begin() + static_cast<std::ptrdiff_t>(dropped));
    cached_ = 0;
  }
  window_.push_back(id);
  return dropped;
}

void Sequence::Truncate(std::size_t size) {
  assert(size <= window_.size());
  window_.resize(size);
  cached_ = std::min(cached_, size);
}

void Sequence::CopyFrom(const Sequence& other) {
  window_.assign(other.window_.begin(), other.window_.end());
  cached_ = other.cached_;
  cache_.CopyFrom(other.cache_, cached_);
}

}  // namespace gpt2
