// Drafts the next tokens from the text so far (Saxena 2023: "Prompt Lookup Decoding"). A model
// verifies a draft of several tokens in one pass over its weights.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gpt2 {

// For one sequence; not thread-safe. While drafts cost more than they save, it pauses, longer each
// time. Pauses depend on the accepted tokens, never on the clock, so the same text has the same
// drafts everywhere.
class LookupDrafter {
 public:
  // Together with the token before them, so many tokens fill the tiles of the matmul kernels.
  static constexpr std::size_t kMostTokens = 7;

  // Returns at most `most` tokens: those after the longest earlier match of the end of `text`, or
  // after the latest of several equally long ones. Empty if there is no match, or during a pause.
  // Valid until the next call.
  std::span<const std::int32_t> Draft(std::span<const std::int32_t> text, std::size_t most);

  // Records how many of the `drafted` tokens the model accepted.
  void Update(std::size_t drafted, std::size_t accepted);

 private:
  // The number of drafted tokens before the first acceptance, and after a rejection.
  static constexpr std::size_t kFirstLength = 3;
  // In calls. With this pause, rejected drafts take 4 % of the time: kTokenCost * kFirstLength of
  // 32 steps.
  static constexpr std::size_t kFirstPause = 32;
  // The second rejected draft of kFirstLength starts a pause.
  static constexpr double kFirstCredit = 2.0;

  std::array<std::int32_t, kMostTokens> tokens_;
  std::size_t length_ = kFirstLength;  // tokens to draft next time
  double credit_ = kFirstCredit;       // decode steps saved, less those spent
  std::size_t waiting_ = 0;            // calls until the pause ends
  std::size_t pause_ = kFirstPause;    // length of the next one, in calls
};

}  // namespace gpt2
