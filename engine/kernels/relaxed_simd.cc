// The kernels that gain from relaxed SIMD; all others are simd128.cc's. Empty in other builds.
#ifdef __wasm_relaxed_simd__

#include "engine/kernels/kernels.h"
#include "engine/kernels/simd_attention.h"
#include "engine/kernels/simd_matmul.h"

namespace gpt2 {

void MatmulQ8_RelaxedSimd(const TiledQ8& w, const QuantizedRows& x, TileRange tiles,
                          MatView<float> y) {
  simd::MatmulQ8<simd::RelaxedDot>(w, x, tiles, y);
}

void AttendQ8_RelaxedSimd(const float* q, const KvHeadQ8& kv, std::size_t dim,
                          std::size_t positions, float* out) {
  simd::AttendQ8<simd::RelaxedDot>(q, kv, dim, positions, out);
}

}  // namespace gpt2

#endif
