// The scale of a group of 4-bit weights, and its codes.
#pragma once

#include <array>
#include <cstdint>

#include "engine/kernels/layout.h"

namespace gpt2 {

// `target` as a code -8..7 of a scale, `inverse` is 1 / scale: rounded to nearest, ties to even.
float RoundToQ4(float target, float inverse);

// The scale, of many sizes and both signs around the one that gives the largest target the code -8,
// that rounds `targets` with the least squared error, each weighted with its `importance`.
BFloat16 SearchQ4Scale(const std::array<float, kGroup>& targets,
                       const std::array<float, kGroup>& importance);

}  // namespace gpt2
