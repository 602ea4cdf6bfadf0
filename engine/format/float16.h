// IEEE 754 half precision, a storage format; nothing computes with it.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>

namespace gpt2 {

inline float WidenFloat16(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1fu;
  const std::uint32_t mantissa = half & 0x3ffu;
  if (exponent == 0) {  // zero or subnormal: mantissa * 2^-24
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
  }
  // Re-bias from 15 to 127; the all-ones exponent (infinity, NaN) stays all ones.
  const std::uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | mantissa << 13);
}

// `value` rounded to the nearest float16, ties to even; nothing if the result is infinite.
inline std::optional<std::uint16_t> NarrowFloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  const float magnitude = std::fabs(value);
  if (!(magnitude < 65520.0f)) return std::nullopt;  // halfway from the largest, 65504, to 65536
  if (magnitude < 0x1p-14f) {                        // subnormal: a multiple of 2^-24
    return static_cast<std::uint16_t>(
        sign | static_cast<std::uint16_t>(std::nearbyint(magnitude * 0x1p24f)));
  }
  const std::uint32_t rebased = (bits & 0x7fffffffu) - (112u << 23);
  const std::uint32_t rounded = rebased + 0xfffu + (rebased >> 13 & 1u);
  return static_cast<std::uint16_t>(sign | rounded >> 13);
}

}  // namespace gpt2
