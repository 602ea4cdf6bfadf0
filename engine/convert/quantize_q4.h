// The scale of a group of 4-bit weights, and its codes.
#pragma once

#include <array>
#include <cstdint>

#include "engine/kernels/layout.h"

namespace gpt2 {

// `target` as a code -8..7, where `inverse` is 1 / scale: rounded to nearest, ties to even.
float RoundToQ4(float target, float inverse);

// The scale that rounds `targets` with the smallest squared error, each weighted by its
// `importance`. The search tries many sizes and both signs around the scale that gives the largest
// target the code -8.
BFloat16 SearchQ4Scale(const std::array<float, kGroup>& targets,
                       const std::array<float, kGroup>& importance);

}  // namespace gpt2
