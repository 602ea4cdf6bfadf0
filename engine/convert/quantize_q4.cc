#include "engine/convert/quantize_q4.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "engine/kernels/layout.h"
#include "engine/kernels/scalar_math.h"

namespace gpt2 {
namespace {

BFloat16 ToBFloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<BFloat16>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);  // nearest even
}

}  // namespace

float RoundToQ4(float target, float inverse) {
  // Adding and subtracting 1.5 * 2^23 rounds half to even, and vectorizes everywhere.
  constexpr float kRound = 12582912.0f;
  constexpr float kLeastCode = -kQ4Zero;
  return std::clamp((target * inverse + kRound) - kRound, kLeastCode, kLeastCode + 15);
}

BFloat16 SearchQ4Scale(const std::array<float, kGroup>& targets,
                       const std::array<float, kGroup>& importance) {
  float extreme = 0.0f;
  for (const float target : targets) {
    if (std::fabs(target) > std::fabs(extreme)) extreme = target;
  }
  if (std::fabs(extreme) < kSmallestAbsmax) return 0;
  constexpr int kTries = 27;  // in steps of 0.025, 1 among them
  // Measured: beyond these none was ever best.
  constexpr float kSmallest = 0.6f, kLargest = 1.25f;
  BFloat16 best = 0;
  float least = INFINITY;
  for (int i = 0; i < 2 * kTries; ++i) {
    const int step = i / 2;
    const float size = kSmallest + (kLargest - kSmallest) * static_cast<float>(step) / (kTries - 1);
    const BFloat16 candidate = ToBFloat16((i % 2 == 0 ? -size : size) * extreme / kQ4Zero);
    const float scale = WidenBFloat16(candidate);
    if (scale == 0.0f) continue;
    const float inverse = 1.0f / scale;
    std::array<float, kGroup> errors;
    for (std::size_t k = 0; k < kGroup; ++k) {
      const float error = targets[k] - scale * RoundToQ4(targets[k], inverse);
      errors[k] = importance[k] * error * error;
    }
    float sum = 0.0f;
    for (const float error : errors) sum += error;
    if (sum < least) {
      least = sum;
      best = candidate;
    }
  }
  return best;
}

}  // namespace gpt2
