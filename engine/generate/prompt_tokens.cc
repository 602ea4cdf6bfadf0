#include "engine/generate/prompt_tokens.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/generate/sequence.h"
#include "engine/model/config.h"

namespace gpt2 {

Status CheckTokenIds(const Config& config, std::span<const std::int32_t> ids,
                     std::size_t first_index) {
  const auto vocab_size = static_cast<std::int64_t>(config.vocab_size);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= 0 && ids[i] < vocab_size) continue;
    return Error{ErrorCode::kInvalidArgument,
                 Concat("token id ", ids[i], " at index ", first_index + i, ", expected 0 to ",
                        vocab_size - 1)};
  }
  return Done{};
}

Status PromptTokens::Add(std::span<const std::int32_t> ids) {
  GPT2_TRY(CheckTokenIds(*config_, ids, size_));
  const std::size_t capacity = config_->n_positions;
  for (const std::int32_t id : ids) {
    std::uint32_t& first = first_[static_cast<std::size_t>(id)];
    ++size_;
    if (first == 0) first = static_cast<std::uint32_t>(size_);
    if (recent_.size() == 2 * capacity) {
      recent_.erase(recent_.begin(), recent_.end() - static_cast<std::ptrdiff_t>(capacity));
    }
    recent_.push_back(id);
  }
  return Done{};
}

std::span<const std::int32_t> PromptTokens::window() const {
  const std::size_t capacity = config_->n_positions;
  if (size_ <= capacity) return recent_;
  const std::size_t part = DroppedWhenFull(capacity);
  // Leaves room for some words: otherwise the first of them would drop the next part at once.
  const std::size_t room = part / 8;
  const std::size_t parts = (size_ + room - capacity + part - 1) / part;
  return std::span(recent_).last(size_ - parts * part);
}

}  // namespace gpt2
