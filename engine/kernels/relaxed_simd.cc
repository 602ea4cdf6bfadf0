// The kernels that gain from relaxed SIMD; simd128.cc has all others. Empty in other builds.
#ifdef __wasm_relaxed_simd__

#include <cstdint>

#include "engine/kernels/kernels.h"
#include "engine/kernels/simd_attention.h"
#include "engine/kernels/simd_matmul.h"

namespace gpt2 {

namespace simd {

bool RelaxedDotIsExact() {
  // Extremes of both operands, at every place. Volatile, so that no compiler computes the result
  // itself.
  volatile std::int8_t signed_codes[4] = {127, -128, 1, -1};
  volatile std::int8_t magnitudes[4] = {127, 127, 0, 64};
  for (int round = 0; round < 16; ++round) {
    alignas(16) std::int8_t a[16], b[16];
    std::int16_t pairs[8] = {};
    std::int32_t fours[4] = {round, round, round, round};
    for (int i = 0; i < 16; ++i) {
      a[i] = signed_codes[(i + round / 4) % 4];
      b[i] = magnitudes[(i / 2 + round) % 4];
      pairs[i / 2] = static_cast<std::int16_t>(pairs[i / 2] + a[i] * b[i]);
      fours[i / 4] += a[i] * b[i];
    }
    const v128_t left = wasm_v128_load(a), right = wasm_v128_load(b);
    const v128_t wrong = wasm_v128_or(
        wasm_v128_xor(wasm_i16x8_relaxed_dot_i8x16_i7x16(left, right), wasm_v128_load(pairs)),
        wasm_v128_xor(wasm_i32x4_relaxed_dot_i8x16_i7x16_add(left, right, wasm_i32x4_splat(round)),
                      wasm_v128_load(fours)));
    if (wasm_v128_any_true(wrong)) return false;
  }
  return true;
}

bool RelaxedDotIsMadeOfPairs() {
  volatile std::int8_t most = 127, beyond = -1;  // 255 as an unsigned byte
  const v128_t sums = wasm_i32x4_relaxed_dot_i8x16_i7x16_add(
      wasm_i8x16_splat(most), wasm_i8x16_splat(beyond), wasm_i32x4_splat(0));
  return wasm_i32x4_extract_lane(sums, 0) == 2 * INT16_MAX;
}

}  // namespace simd

void MatmulQ8_RelaxedSimd(const TiledQ8& w, const QuantizedActivations& x, TileRange tiles,
                          MatView<float> y) {
  simd::MatmulQuantized<simd::RelaxedDot>(w, x, tiles, y);
}

void MatmulQ4_RelaxedSimd(const TiledQ4& w, const QuantizedActivations& x, TileRange tiles,
                          MatView<float> y) {
  simd::MatmulQuantized<simd::RelaxedDot>(w, x, tiles, y);
}

void AttendQ8_RelaxedSimd(const float* q, const KvHeadQ8& kv, std::size_t dim,
                          std::size_t positions, float* out) {
  simd::AttendQ8<simd::RelaxedDot>(q, kv, dim, positions, out);
}

void MatmulQ8_RelaxedPairs(const TiledQ8& w, const QuantizedActivations& x, TileRange tiles,
                           MatView<float> y) {
  simd::MatmulQuantized<simd::RelaxedPairDot>(w, x, tiles, y);
}

void MatmulQ4_RelaxedPairs(const TiledQ4& w, const QuantizedActivations& x, TileRange tiles,
                           MatView<float> y) {
  simd::MatmulQuantized<simd::RelaxedPairDot>(w, x, tiles, y);
}

void AttendQ8_RelaxedPairs(const float* q, const KvHeadQ8& kv, std::size_t dim,
                           std::size_t positions, float* out) {
  simd::AttendQ8<simd::RelaxedPairDot>(q, kv, dim, positions, out);
}

}  // namespace gpt2

#endif
