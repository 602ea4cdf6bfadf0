#include "engine/text/encoding.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/text/pre_tokenizer.h"
#include "engine/text/tokenizer.h"

namespace gpt2 {

Status WordMerger::Encode(std::string_view word) {
  size_ = next_ = 0;
  const std::size_t size = word.size();
  if (is_wide_) {
    wide_.resize(size);
  } else {
    narrow_.resize(size);
  }
  begins_.assign(size, true);
  for (std::size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(word[i]);
    const std::int32_t token = tokenizer_->ByteToken(byte);
    if (token < 0) {
      return Error{ErrorCode::kInvalidArgument,
                   Concat("the vocabulary has no token for byte ", byte)};
    }
    SetToken(i, token);
  }
  size_ = size;
  // With the text, the tokens and begins_ this stays under four times the text, also while the
  // queue grows. A word with more candidates is rescanned, about twenty times.
  constexpr std::size_t kAlwaysQueued = 64 * 1024;
  most_queued_ = std::max(kAlwaysQueued, size / 16);
  QueueAll();
  while (!queue_.empty()) {
    std::pop_heap(queue_.begin(), queue_.end(), std::greater<>());
    const Candidate best = queue_.back();
    queue_.pop_back();
    // It is stale where one of its tokens has been merged since.
    const Tokenizer::Merge* merge = begins_[best.left] ? MergeAt(best.left) : nullptr;
    if (merge != nullptr && merge->rank == best.rank) Apply(best.left, merge->merged);
    if (queue_.empty() && has_limit_) QueueAll();
  }
  return Done{};
}

std::int32_t WordMerger::Next() {
  const std::int32_t token = Token(next_);
  next_ += tokenizer_->Symbols(token);
  return token;
}

void WordMerger::SetToken(std::size_t symbol, std::int32_t token) {
  if (is_wide_) {
    wide_[symbol] = token;
  } else {
    narrow_[symbol] = static_cast<std::uint16_t>(token);
  }
}

// The merge of the token that begins at `left` with the one behind it, or null.
const Tokenizer::Merge* WordMerger::MergeAt(std::size_t left) const {
  const std::size_t right = left + Symbols(left);
  return right < size_ ? tokenizer_->FindMerge(Token(left), Token(right)) : nullptr;
}

void WordMerger::Consider(std::size_t left) {
  if (const Tokenizer::Merge* merge = MergeAt(left)) {
    Queue({merge->rank, static_cast<std::uint32_t>(left)});
  }
}

void WordMerger::Queue(Candidate candidate) {
  if (has_limit_ && !(limit_ > candidate)) return;
  if (queue_.size() == most_queued_) {
    // Keeps the first half of them.
    const auto middle = queue_.begin() + static_cast<std::ptrdiff_t>(queue_.size() / 2);
    std::nth_element(queue_.begin(), middle, queue_.end(),
                     [](const Candidate& a, const Candidate& b) { return b > a; });
    limit_ = *middle;
    has_limit_ = true;
    queue_.erase(middle, queue_.end());
    std::make_heap(queue_.begin(), queue_.end(), std::greater<>());
    if (!(limit_ > candidate)) return;
  }
  if (queue_.size() == queue_.capacity()) {
    queue_.reserve(std::min(most_queued_, std::max<std::size_t>(16, 2 * queue_.size())));
  }
  queue_.push_back(candidate);
  std::push_heap(queue_.begin(), queue_.end(), std::greater<>());
}

void WordMerger::QueueAll() {
  has_limit_ = false;
  for (std::size_t symbol = 0; symbol < size_; symbol += Symbols(symbol)) Consider(symbol);
}

// A token is noted at its first and its last symbol, so that both its neighbours find it.
void WordMerger::Apply(std::size_t left, std::int32_t merged) {
  begins_[left + Symbols(left)] = false;
  SetToken(left, merged);
  SetToken(left + Symbols(left) - 1, merged);
  if (left > 0) Consider(left - Symbols(left - 1));
  Consider(left);
}

Encoding::Encoding(const Tokenizer& tokenizer, std::string_view text, SpecialTokens special)
    : tokenizer_(&tokenizer),
      finds_special_(special == SpecialTokens::kAllowed && tokenizer.end_of_text()),
      rest_(text),
      word_(tokenizer) {
  FindSpecial();
}

// Cuts rest_ at the next end-of-text token.
void Encoding::FindSpecial() {
  const std::size_t found = finds_special_ ? rest_.find(kEndOfText) : std::string_view::npos;
  has_special_ = found != std::string_view::npos;
  text_ = rest_.substr(0, found);
  rest_ = has_special_ ? rest_.substr(found + kEndOfText.size()) : std::string_view();
}

Result<std::size_t> Encoding::Next(std::span<std::int32_t> ids) {
  std::size_t count = 0;
  while (count < ids.size() && !is_done()) {
    if (!word_.is_done()) {
      ids[count++] = word_.Next();
    } else if (!text_.empty()) {
      const std::size_t size = FirstWordSize(text_);
      GPT2_TRY(word_.Encode(text_.substr(0, size)));
      text_.remove_prefix(size);
    } else {
      ids[count++] = *tokenizer_->end_of_text();
      FindSpecial();
    }
  }
  return count;
}

}  // namespace gpt2
