#include "engine/generate/lookup_drafter.h"

#include <algorithm>

namespace gpt2 {
namespace {

constexpr std::size_t kLeastMatch = 3;  // tokens that must agree; with two, most guesses are wrong
constexpr std::size_t kMostMatch = 8;   // beyond, a longer match tells no more

// Decode steps that checking one more token costs: passes over GPT-2 124M's weights take 1.5 times
// as long with four tokens as with one (`npm run bench`, two cores).
constexpr double kTokenCost = 0.17;
constexpr double kMostCredit = 3.0;    // a few wrong guesses are forgiven
constexpr double kCreditOfATry = 0.5;  // after a pause: one guess
constexpr std::size_t kLongestPause = 1024;

// How many tokens before `a` and before `b` agree, at most kMostMatch.
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
  // Past the end of the text it goes on as it did from that place: a refrain comes again.
  const std::size_t period = text.size() - best;
  for (std::size_t i = 0; i < most; ++i) tokens_[i] = text[best + i % period];
  return {tokens_.data(), most};
}

void LookupDrafter::Learn(std::size_t drafted, std::size_t accepted) {
  if (drafted == 0) return;
  length_ = accepted == drafted ? kMostTokens : kFirstLength;
  credit_ += static_cast<double>(accepted) - kTokenCost * static_cast<double>(drafted);
  credit_ = std::min(credit_, kMostCredit);
  if (credit_ >= kMostCredit) pause_ = kFirstPause;
  if (credit_ > 0.0) return;
  waiting_ = pause_;
  pause_ = std::min(2 * pause_, kLongestPause);
  credit_ = kCreditOfATry;
}

}  // namespace gpt2
