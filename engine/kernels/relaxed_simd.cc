// The kernels that gain from relaxed SIMD; all others are simd128.cc's. Empty in other builds.
#ifdef __wasm_relaxed_simd__

#include "engine/kernels/kernels.h"
#include "engine/kernels/simd_attention.h"
#include "engine/kernels/simd_matmul.h"

namespace gpt2 {

namespace simd {

bool RelaxedDotIsExact() {
  // Extremes of both operands, in every place. Volatile, so that no compiler computes the answer
  // itself.
  volatile std::int8_t signed_codes[4] = {127, -128, 1, -1};
  volatile std::int8_t magnitudes[4] = {127, 127, 0, 64};
  for (int round = 0; round < 16; ++round) {
    alignas(16) std::int8_t a[16], b[16];
    std::int32_t expected[4] = {round, round, round, round};
    for (int i = 0; i < 16; ++i) {
      a[i] = signed_codes[(i + round / 4) % 4];
      b[i] = magnitudes[(i / 2 + round) % 4];
      expected[i / 4] += a[i] * b[i];
    }
    alignas(16) std::int32_t found[4];
    wasm_v128_store(found, wasm_i32x4_relaxed_dot_i8x16_i7x16_add(
                               wasm_v128_load(a), wasm_v128_load(b), wasm_i32x4_splat(round)));
    for (int lane = 0; lane < 4; ++lane) {
      if (found[lane] != expected[lane]) return false;
    }
  }
  return true;
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

}  // namespace gpt2

#endif
