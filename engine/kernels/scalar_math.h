// Constants and functions that the kernels and their plain twins share, so that every build
// computes the same bits. They include our own exp, log and Gaussian error function. Kernels use
// the float functions' vector twins in simd_math.h, which perform the same operations.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace gpt2 {

// 8-bit codes are -127..127. Without -128 the magnitude of each fits seven bits, as the relaxed dot
// product requires (simd_dot.h).
inline constexpr float kLargestCode = 127.0f;
// The smallest absmax that is quantized. It is far above 127 / FLT_MAX = 3.7e-37, below which 127 /
// absmax overflows. It is far below values that change a sum of usual size.
inline constexpr float kSmallestAbsmax = 1e-30f;

// GELU: see GeluTanhFn and GeluErfFn.
inline constexpr float kTwoSqrt2OverPi = 1.5957691216057308f;
inline constexpr float kGeluCubic = 0.044715f;
inline constexpr float kSqrtHalf = 0.70710678118654752f;

// exp(x) by range reduction to [-ln 2 / 2, ln 2 / 2] and the degree-5 polynomial of Cephes' expf
// (Moshier, netlib); relative error under 2e-7. Saturates outside [kExpMin, kExpMax].
inline constexpr float kExpMin = -87.33654f;  // ln of the smallest normal float
inline constexpr float kExpMax = 88.02969f;   // keeps 2^n finite
inline constexpr float kLog2E = 1.44269504088896341f;
inline constexpr float kLn2High = 0.693359375f;  // ln 2 = high + low; n * high is exact
inline constexpr float kLn2Low = -2.12194440e-4f;
inline constexpr float kExpPolynomial[] = {1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f,
                                           4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f};

inline float Exp(float x) {
  x = std::min(std::max(kExpMin, x), kExpMax);  // in this order NaN becomes kExpMin
  const float n = std::nearbyint(x * kLog2E);
  const float r = (x - n * kLn2High) - n * kLn2Low;
  float p = kExpPolynomial[0];
  for (int i = 1; i < 6; ++i) p = p * r + kExpPolynomial[i];
  const float mantissa = p * (r * r) + r + 1.0f;
  const std::int32_t bits = std::bit_cast<std::int32_t>(mantissa);
  return std::bit_cast<float>(bits + (static_cast<std::int32_t>(n) << 23));
}

// erf(x) by formula 7.1.26 of Abramowitz and Stegun, absolute error under 5e-7 in float.
inline constexpr float kErfP = 0.3275911f;
inline constexpr float kErfPolynomial[] = {1.061405429f, -1.453152027f, 1.421413741f, -0.284496736f,
                                           0.254829592f};

inline float Erf(float x) {
  const float a = std::fabs(x);
  const float t = 1.0f / (1.0f + kErfP * a);
  float p = kErfPolynomial[0];
  for (int i = 1; i < 5; ++i) p = p * t + kErfPolynomial[i];
  return std::copysign(1.0f - p * t * Exp(-(a * a)), x);
}

// ln(x) for finite x > 0. With x = m 2^e and m in [sqrt(1/2), sqrt(2)), it sums the series of 2
// artanh((m - 1) / (m + 1)). The first term left out is under 1e-17.
inline double Log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  const double s = (m - 1) / (m + 1);
  const double s2 = s * s;
  double sum = 0;
  for (int k = 21; k >= 1; k -= 2) sum = sum * s2 + 1.0 / k;
  return exponent * 0.69314718055994531 + 2 * s * sum;
}

}  // namespace gpt2
