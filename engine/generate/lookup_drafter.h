// Guesses the next tokens from what the text has said before (Saxena 2023: "Prompt Lookup
// Decoding"). A model checks several guessed tokens in one pass over its weights.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gpt2 {

// Of one sequence. Pauses itself, for longer each time, while its guesses cost more than they save;
// only what came true decides, never the clock, so that the same text is guessed the same way
// everywhere.
class LookupDrafter {
 public:
  // With the token before them these fill the tiles of the matmul kernels.
  static constexpr std::size_t kMostTokens = 7;

  // At most `most` tokens: what followed the latest place in `text` where the end of `text` stands
  // too; the longer that end, the better the place. Empty where there is none, or during a pause.
  // Valid until the next call.
  std::span<const std::int32_t> Draft(std::span<const std::int32_t> text, std::size_t most);

  // Says how many of the `drafted` tokens the model then wrote.
  void Learn(std::size_t drafted, std::size_t accepted);

 private:
  static constexpr std::size_t kFirstLength = 3;
  static constexpr std::size_t kFirstPause = 32;

  std::array<std::int32_t, kMostTokens> tokens_;
  std::size_t length_ = kFirstLength;  // tokens to guess next time
  double credit_ = 1.0;                // decode steps saved, less those spent
  std::size_t waiting_ = 0;            // calls until the pause ends
  std::size_t pause_ = kFirstPause;    // length of the next one, in calls
};

}  // namespace gpt2
