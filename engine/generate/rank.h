// Where a token stands among all that might be in its place.
#pragma once

#include <cstdint>
#include <span>

namespace gpt2 {

// The rank of a token of the logit `logit`: 1 plus the number of `logits` that are larger. Equal
// ones share the smallest.
std::uint32_t RankOf(std::span<const float> logits, float logit);

}  // namespace gpt2
