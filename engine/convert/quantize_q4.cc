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

constexpr std::size_t kTries = 27;           // sizes of the scale, in steps of 0.025, including 1
constexpr std::size_t kScales = 2 * kTries;  // each with both signs
// Measured: no scale beyond these was ever best.
constexpr float kSmallest = 0.6f, kLargest = 1.25f;
// Scales that are tried at a time: the floats in a vector of every supported processor.
constexpr std::size_t kLanes = 4;
using Vector = float __attribute__((vector_size(kLanes * sizeof(float))));  // GCC's and Clang's

BFloat16 ToBFloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<BFloat16>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);  // nearest even
}

// The code -8..7 nearest to `value`, a float or a vector of them; ties to even.
template <typename T>
T Rounded(T value) {
  // Adding and subtracting 1.5 * 2^23 rounds half to even, and vectorizes everywhere.
  constexpr float kRound = 12582912.0f;
  const T least = T{} - kQ4Zero, most = least + 15;
  const T code = (value + kRound) - kRound;
  const T high = code < least ? least : code;
  return most < high ? most : high;
}

}  // namespace

float RoundToQ4(float target, float inverse) {
  return Rounded(target * inverse);
}

BFloat16 SearchQ4Scale(const std::array<float, kGroup>& targets,
                       const std::array<float, kGroup>& importance) {
  float extreme = 0.0f;
  for (const float target : targets) {
    if (std::fabs(target) > std::fabs(extreme)) extreme = target;
  }
  if (std::fabs(extreme) < kSmallestAbsmax) return 0;
  BFloat16 best = 0;
  float least = INFINITY;
  // Tries several scales at a time, each in a lane with its own sum. The errors of a group are
  // added in order, and a chain of 32 additions takes as long for four lanes as for one.
  for (std::size_t first = 0; first < kScales; first += kLanes) {
    std::array<BFloat16, kLanes> candidates;
    Vector scales{}, sums{};
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const auto step = static_cast<float>((first + lane) / 2);
      const float size = kSmallest + (kLargest - kSmallest) * step / (kTries - 1);
      candidates[lane] = ToBFloat16((lane % 2 == 0 ? -size : size) * extreme / kQ4Zero);
      scales[lane] = WidenBFloat16(candidates[lane]);
    }
    const Vector inverses = 1.0f / scales;
    for (std::size_t k = 0; k < kGroup; ++k) {
      const Vector error = targets[k] - scales * Rounded(targets[k] * inverses);
      sums += importance[k] * error * error;
    }
    for (std::size_t lane = 0; lane < kLanes && first + lane < kScales; ++lane) {
      if (scales[lane] == 0.0f || !(sums[lane] < least)) continue;
      least = sums[lane];
      best = candidates[lane];
    }
  }
  return best;
}

}  // namespace gpt2
