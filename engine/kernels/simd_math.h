// Vector twins of scalar_math.h and of the reductions in reference.cc: the same operations in the
// same order, so the same bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

#include "engine/kernels/layout.h"
#include "engine/kernels/scalar_math.h"
#include "engine/kernels/simd.h"

namespace gpt2::simd {

inline v128_t Splat(float value) {
  return wasm_f32x4_splat(value);
}

// A constant that is read from memory: one instruction. V8 on x64 recreates a known constant in
// each iteration of a loop, in three or four. `value` has static storage.
inline v128_t Constant(const volatile float& value) {
  return Splat(value);
}
inline constexpr float kOne = 1.0f;

inline v128_t MulAdd(v128_t a, v128_t b, v128_t c) {  // two roundings, never fused
  return wasm_f32x4_add(wasm_f32x4_mul(a, b), c);
}

// (0 + 1) + (2 + 3)
inline float SumLanes(v128_t v) {
  return (wasm_f32x4_extract_lane(v, 0) + wasm_f32x4_extract_lane(v, 1)) +
         (wasm_f32x4_extract_lane(v, 2) + wasm_f32x4_extract_lane(v, 3));
}

inline float MaxLane(v128_t v) {
  return std::max(std::max(wasm_f32x4_extract_lane(v, 0), wasm_f32x4_extract_lane(v, 1)),
                  std::max(wasm_f32x4_extract_lane(v, 2), wasm_f32x4_extract_lane(v, 3)));
}

// The first n < 4 values, zeros in the other lanes.
inline v128_t LoadPart(const float* x, std::size_t n) {
  float lanes[4] = {0, 0, 0, 0};
  for (std::size_t i = 0; i < n; ++i) lanes[i] = x[i];
  return wasm_v128_load(lanes);
}

inline void StorePart(float* x, std::size_t n, v128_t v) {
  float lanes[4];
  wasm_v128_store(lanes, v);
  for (std::size_t i = 0; i < n; ++i) x[i] = lanes[i];
}

// x = f(x) over n values, four at a time.
template <typename F>
inline void Transform(float* x, std::size_t n, F f) {
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) wasm_v128_store(x + i, f(wasm_v128_load(x + i)));
  if (i < n) StorePart(x + i, n - i, f(LoadPart(x + i, n - i)));
}

inline v128_t Exp(v128_t x) {
  x = wasm_f32x4_pmin(wasm_f32x4_pmax(Constant(kExpMin), x), Constant(kExpMax));
  const v128_t n = wasm_f32x4_nearest(wasm_f32x4_mul(x, Constant(kLog2E)));
  const v128_t r = wasm_f32x4_sub(wasm_f32x4_sub(x, wasm_f32x4_mul(n, Constant(kLn2High))),
                                  wasm_f32x4_mul(n, Constant(kLn2Low)));
  v128_t p = Constant(kExpPolynomial[0]);
  for (int i = 1; i < 6; ++i) p = MulAdd(p, r, Constant(kExpPolynomial[i]));
  const v128_t mantissa = wasm_f32x4_add(MulAdd(p, wasm_f32x4_mul(r, r), r), Constant(kOne));
  const v128_t exponent = wasm_i32x4_shl(wasm_i32x4_trunc_sat_f32x4(n), 23);
  return wasm_i32x4_add(mantissa, exponent);
}

inline v128_t Erf(v128_t x) {
  const v128_t a = wasm_f32x4_abs(x);
  const v128_t one = Constant(kOne);
  const v128_t t = wasm_f32x4_div(one, MulAdd(Constant(kErfP), a, one));
  v128_t p = Constant(kErfPolynomial[0]);
  for (int i = 1; i < 5; ++i) p = MulAdd(p, t, Constant(kErfPolynomial[i]));
  const v128_t tail =
      wasm_f32x4_mul(wasm_f32x4_mul(p, t), Exp(wasm_f32x4_neg(wasm_f32x4_mul(a, a))));
  const v128_t sign_bit = Splat(-0.0f);
  return wasm_v128_bitselect(x, wasm_f32x4_sub(one, tail), sign_bit);
}

// Four neighbouring bfloat16 values as floats.
inline v128_t LoadBFloat16(const std::uint16_t* x) {
  return wasm_i32x4_shl(wasm_u32x4_load16x4(x), 16);
}

// The larger of two non-negative floats, NaN if one of them is NaN: compared as integers, in which
// NaN is the largest.
inline float LargerBits(float a, float b) {
  return std::bit_cast<float>(
      std::max(std::bit_cast<std::int32_t>(a), std::bit_cast<std::int32_t>(b)));
}

// How far n values extend above zero and below, as magnitudes; NaN if there is one.
struct Reach {
  float above, below;
};

inline Reach ReachOf(const float* x, std::size_t n) {
  v128_t above = wasm_i32x4_splat(0);
  v128_t below = above;
  const auto absorb = [&](v128_t v) {
    above = wasm_i32x4_max(above, v);
    below = wasm_i32x4_max(below, wasm_f32x4_neg(v));
  };
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) absorb(wasm_v128_load(x + i));
  if (i < n) absorb(LoadPart(x + i, n - i));
  const auto largest_lane = [](v128_t v) {
    v = wasm_i32x4_max(v, wasm_i32x4_shuffle(v, v, 2, 3, 0, 1));
    v = wasm_i32x4_max(v, wasm_i32x4_shuffle(v, v, 1, 0, 3, 2));
    return wasm_f32x4_extract_lane(v, 0);
  };
  return {largest_lane(above), largest_lane(below)};
}

// Four values times `inverse`, rounded half to even, plus `zero`, as int32 in least..127; NaN gives
// `zero`.
inline v128_t ToCodes(v128_t x, v128_t inverse, v128_t zero, v128_t least) {
  const v128_t rounded = wasm_i32x4_trunc_sat_f32x4(wasm_f32x4_nearest(wasm_f32x4_mul(x, inverse)));
  return wasm_i32x4_min(wasm_i32x4_max(wasm_i32x4_add(rounded, zero), least),
                        wasm_i32x4_splat(127));
}

// How one group is coded: value = scale * (code - zero).
struct GroupCodes {
  float scale;  // not finite if one of the values is not
  std::int32_t zero;
};

// Quantizes n values with one scale. Writes `room` codes, a multiple of 16, and pads with the codes
// of zeros.
inline GroupCodes QuantizeValues(const float* x, std::size_t n, ActivationCodes kind,
                                 std::size_t room, std::int8_t* codes) {
  const Reach reach = ReachOf(x, n);
  const bool is_signed = kind == ActivationCodes::kSigned;
  const float range = is_signed ? LargerBits(reach.above, reach.below) : reach.above + reach.below;
  const bool is_zero = range < kSmallestAbsmax;
  const v128_t inverse = Splat(is_zero ? 0.0f : kLargestCode / range);
  const v128_t none = wasm_i32x4_splat(0);
  const v128_t least = is_signed ? wasm_i32x4_splat(-127) : none;
  const v128_t zero = is_signed ? none : ToCodes(Splat(reach.below), inverse, none, none);
  for (std::size_t start = 0; start < room; start += 16) {
    v128_t quads[4];
    for (std::size_t quad = 0; quad < 4; ++quad) {
      const std::size_t i = start + quad * 4;
      const v128_t values = i + 4 <= n ? wasm_v128_load(x + i) : LoadPart(x + i, i < n ? n - i : 0);
      quads[quad] = ToCodes(values, inverse, zero, least);
    }
    wasm_v128_store(codes + start,
                    wasm_i8x16_narrow_i16x8(wasm_i16x8_narrow_i32x4(quads[0], quads[1]),
                                            wasm_i16x8_narrow_i32x4(quads[2], quads[3])));
  }
  return {is_zero ? 0.0f : range / kLargestCode, wasm_i32x4_extract_lane(zero, 0)};
}

// The sum of n codes, n a multiple of 16, where codes above `most` count as `most`.
inline std::int32_t SumCodes(const std::int8_t* codes, std::size_t n, std::int8_t most) {
  v128_t sum = wasm_i32x4_splat(0);
  for (std::size_t i = 0; i < n; i += 16) {
    const v128_t v = wasm_i8x16_min(wasm_v128_load(codes + i), wasm_i8x16_splat(most));
    sum =
        wasm_i32x4_add(sum, wasm_i32x4_extadd_pairwise_i16x8(wasm_i16x8_extadd_pairwise_i8x16(v)));
  }
  return wasm_i32x4_extract_lane(sum, 0) + wasm_i32x4_extract_lane(sum, 1) +
         wasm_i32x4_extract_lane(sum, 2) + wasm_i32x4_extract_lane(sum, 3);
}

}  // namespace gpt2::simd
