#include "engine/generate/rank.h"

#include <cstdint>
#include <span>

namespace gpt2 {

// Not inlined: within its caller it would be compiled for size, and examine one logit at a time.
[[gnu::noinline]] std::uint32_t RankOf(std::span<const float> logits, float logit) {
  std::uint32_t larger = 0;
  for (const float other : logits) larger += other > logit ? 1 : 0;
  return 1 + larger;
}

}  // namespace gpt2
