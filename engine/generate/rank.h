// Computes the rank of a token.
#pragma once

#include <cstdint>
#include <span>

namespace gpt2 {

// The rank of a token with the logit `logit`: 1 plus the number of larger `logits`. Tokens with
// equal logits have the same rank.
std::uint32_t RankOf(std::span<const float> logits, float logit);

}  // namespace gpt2
