#include "engine/generate/lookup_drafter.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gpt2 {
namespace {

// Tokens that must match (an n-gram): with two, most drafts are rejected.
constexpr std::size_t kLeastMatch = 3;
// A longer match drafts no better.
constexpr std::size_t kMostMatch = 8;

// The cost of verifying one more token, in decode steps. It depends on the processor: 0.55 without
// AVX-VNNI, about 0.25 with it (GPT-2 124M, q8, two threads). With this value between them, the
// texts of docs/notes took at most 1.03 times as long as without drafts, on either.
constexpr double kTokenCost = 0.4;
// A pause starts after the fifth rejected draft of kFirstLength in a row.
constexpr double kMostCredit = 6.0;
// For the first draft after a pause: its rejection starts the next pause.
constexpr double kCreditAfterPause = 0.5;
// Calls: a text that does not repeat itself pays for a rejected draft every thousand tokens.
constexpr std::size_t kLongestPause = 1024;

// The number of equal tokens before `a` and before `b`, at most kMostMatch.
std::size_t MatchLength(std::span<const std::int32_t> text, std::size_t a, std::size_t b) {
  std::size_t length = 0;
  while (length < kMostMatch && length < a && text[a - 1 - length] == text[b - 1 - length]) {
    ++length;
  }
  return length;
}

}  // namespace

std::span<const std::int32_t> LookupDrafter::Draft(std::span<const std::int32_t> text,
                                                   std::size_t most) {
  if (waiting_ > 0) {
    --waiting_;
    return {};
  }
  most = std::min(most, length_);
  std::size_t best = 0, best_length = kLeastMatch - 1;
  for (std::size_t place = text.size(); place-- > kLeastMatch && best_length < kMostMatch;) {
    const std::size_t length = MatchLength(text, place, text.size());
    if (length > best_length) {
      best = place;
      best_length = length;
    }
  }
  if (best == 0) return {};
  // Beyond the end of the text the draft repeats itself, like a refrain.
  const std::size_t period = text.size() - best;
  for (std::size_t i = 0; i < most; ++i) tokens_[i] = text[best + i % period];
  return {tokens_.data(), most};
}

void LookupDrafter::Update(std::size_t drafted, std::size_t accepted) {
  if (drafted == 0) return;
  length_ = accepted == drafted ? kMostTokens : kFirstLength;
  credit_ += static_cast<double>(accepted) - kTokenCost * static_cast<double>(drafted);
  credit_ = std::min(credit_, kMostCredit);
  if (credit_ >= kMostCredit) pause_ = kFirstPause;
  if (credit_ > 0.0) return;
  waiting_ = pause_;
  pause_ = std::min(2 * pause_, kLongestPause);
  credit_ = kCreditAfterPause;
}

}  // namespace gpt2
