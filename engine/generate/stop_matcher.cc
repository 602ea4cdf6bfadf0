#include "engine/generate/stop_matcher.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace gpt2 {

std::string StopMatcher::Push(std::string_view text) {
  if (stopped_) return {};
  pending_ += text;
  // By their ends, so that the result is the same however the text is cut into pieces.
  std::size_t first = 0, first_end = std::string::npos;
  for (const std::string& stop : stop_) {
    const std::size_t begin = pending_.find(stop);
    if (begin == std::string::npos) continue;
    const std::size_t end = begin + stop.size();
    if (std::tie(end, begin) < std::tie(first_end, first))
      std::tie(first_end, first) = std::tie(end, begin);
  }
  if (first_end != std::string::npos) {
    stopped_ = true;
    pending_.resize(first);
    return std::exchange(pending_, {});
  }
  const std::size_t shown = pending_.size() - HeldBack();
  std::string out = pending_.substr(0, shown);
  pending_.erase(0, shown);
  return out;
}

std::string StopMatcher::Flush() {
  return std::exchange(pending_, {});
}

// Bytes at the end of pending_ that are the beginning of a stop string.
std::size_t StopMatcher::HeldBack() const {
  std::size_t held = 0;
  for (const std::string& stop : stop_) {
    for (std::size_t size = std::min(stop.size() - 1, pending_.size()); size > held; --size) {
      if (std::string_view(pending_).ends_with(std::string_view(stop).substr(0, size))) held = size;
    }
  }
  return held;
}

}  // namespace gpt2
