#include "engine/generate/sequence.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/base/result.h"
#include "engine/model/config.h"
#include "engine/model/forward.h"
#include "engine/model/kv_cache.h"

namespace gpt2 {
namespace {

// A full window keeps kKept of kParts, which run again; the dropped part is room for new tokens. So
// each new token costs kKept / (kParts - kKept) = 3 tokens that run again, which in batches take
// about as long as its own decode step. Keeping seven eighths would cost 7; keeping half would cost
// 1, but the model would forget twice as much at once.
constexpr std::size_t kKept = 3;
constexpr std::size_t kParts = 4;

}  // namespace

std::size_t DroppedWhenFull(std::size_t capacity) {
  return capacity - capacity * kKept / kParts;
}

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
    dropped = DroppedWhenFull(capacity_);
    window_.erase(window_.begin(), window_.begin() + static_cast<std::ptrdiff_t>(dropped));
    cached_ = 0;
  }
  window_.push_back(id);
  return dropped;
}

BatchToken Sequence::Advance() {
  assert(!is_current());
  return At(cached_++);
}

BatchToken Sequence::Behind() {
  const std::size_t position = std::min(window_.size(), capacity_ - 1);
  cached_ = std::min(cached_, position);
  return {0, position, &cache_};
}

BatchToken Sequence::Drafted(std::size_t index, std::int32_t id) {
  assert(is_current() && window_.size() + index < capacity_);
  return {id, window_.size() + index, &cache_};
}

void Sequence::Accept(std::span<const std::int32_t> ids) {
  assert(is_current() && window_.size() + ids.size() <= capacity_);
  for (const std::int32_t id : ids) {
    window_.push_back(id);
    Advance();
  }
}

void Sequence::CopyFrom(const Sequence& other) {
  window_.assign(other.window_.begin(), other.window_.end());
  cached_ = other.cached_;
  cache_.CopyFrom(other.cache_, cached_);
}

}  // namespace gpt2
