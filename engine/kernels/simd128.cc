// The kernels in plain SIMD128.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "engine/base/aligned_buffer.h"
#include "engine/base/mat_view.h"
#include "engine/kernels/kernels.h"
#include "engine/kernels/layout.h"
#include "engine/kernels/scalar_math.h"
#include "engine/kernels/simd_attention.h"
#include "engine/kernels/simd_dot.h"
#include "engine/kernels/simd_math.h"
#include "engine/kernels/simd_matmul.h"
#include "engine/kernels/simd_wide.h"

namespace gpt2 {
namespace {

using namespace simd;  // NOLINT: this file is that namespace's kernels

// The sum of f(x) over n values in four lanes (value i in lane i % 4); f takes four values at once.
template <typename F>
float SumOver(const float* x, std::size_t n, F f) {
  v128_t sum = Splat(0.0f);
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) sum = wasm_f32x4_add(sum, f(wasm_v128_load(x + i)));
  float lanes[4];
  wasm_v128_store(lanes, sum);
  for (std::size_t lane = 0; i + lane < n; ++lane) {
    lanes[lane] += wasm_f32x4_extract_lane(f(Splat(x[i + lane])), 0);
  }
  return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

// Two vectors of rows, kTokens tokens: one float tile of MatmulF32.
template <int kTokens>
void MatmulF32Tile(const TiledF32& w, MatView<const float> x, std::size_t tile, std::size_t token,
                   MatView<float> y) {
  const float* values = w.values + tile * w.cols * kTileRows;
  v128_t sum[kTokens][2];
  for (int t = 0; t < kTokens; ++t) sum[t][0] = sum[t][1] = Splat(0.0f);
  for (std::size_t k = 0; k < w.cols; ++k) {
    const v128_t rows_0123 = wasm_v128_load(values + k * kTileRows);
    const v128_t rows_4567 = wasm_v128_load(values + k * kTileRows + 4);
    for (int t = 0; t < kTokens; ++t) {
      const v128_t input = wasm_v128_load32_splat(x.data + (token + t) * x.stride + k);
      sum[t][0] = MulAdd(rows_0123, input, sum[t][0]);
      sum[t][1] = MulAdd(rows_4567, input, sum[t][1]);
    }
  }
  const float* bias = w.bias + tile * kTileRows;
  for (int t = 0; t < kTokens; ++t) {
    float* out = y.data + (token + t) * y.stride + tile * kTileRows;
    wasm_v128_store(out, wasm_f32x4_add(sum[t][0], wasm_v128_load(bias)));
    wasm_v128_store(out + 4, wasm_f32x4_add(sum[t][1], wasm_v128_load(bias + 4)));
  }
}

// Blocks of tokens together, and then the rest. `Weights` is TiledQ8 or TiledQ4.
template <typename Weights>
void MatmulPlain(const Weights& w, const QuantizedActivations& x, TileRange tiles,
                 MatView<float> y) {
  const std::size_t wide = MatmulWide(w, x, tiles, y);
  const std::size_t place = x.Place(wide, /*group=*/0, x.groups);
  MatmulQuantized<PlainDot>(
      w, {x.codes + place * kGroup, x.scales + place, x.offsets + place, x.tokens - wide, x.groups},
      tiles, {y.data + wide * y.stride, y.rows - wide, y.cols, y.stride});
}

}  // namespace

void QuantizeActivations_Simd128(const float* x, std::size_t cols, ActivationCodes kind,
                                 std::int8_t* codes, float* scales, std::int32_t* offsets) {
  for (std::size_t start = 0; start < cols; start += kGroup) {
    const GroupCodes group =
        QuantizeValues(x + start, std::min(kGroup, cols - start), kind, kGroup, codes);
    *scales = group.scale;
    *offsets = kind == ActivationCodes::kSigned ? -kQ4Zero * SumCodes(codes, kGroup, /*most=*/127)
                                                : group.zero;
    codes += kTokenBlock * kGroup;
    scales += kTokenBlock;
    offsets += kTokenBlock;
  }
}

void MatmulF32_Simd128(const TiledF32& w, MatView<const float> x, TileRange tiles,
                       MatView<float> y) {
  constexpr int kTokens = 4;
  for (std::size_t tile = tiles.first; tile < tiles.last; ++tile) {
    std::size_t token = 0;
    for (; token + kTokens <= x.rows; token += kTokens) {
      MatmulF32Tile<kTokens>(w, x, tile, token, y);
    }
    for (; token < x.rows; ++token) MatmulF32Tile<1>(w, x, tile, token, y);
  }
}

void MatmulQ8_Simd128(const TiledQ8& w, const QuantizedActivations& x, TileRange tiles,
                      MatView<float> y) {
  MatmulPlain(w, x, tiles, y);
}

void MatmulQ4_Simd128(const TiledQ4& w, const QuantizedActivations& x, TileRange tiles,
                      MatView<float> y) {
  MatmulPlain(w, x, tiles, y);
}

void LayerNorm_Simd128(const float* x, const float* gain, const float* bias, float epsilon,
                       std::size_t n, float* y) {
  const float mean = SumOver(x, n, [](v128_t v) { return v; }) / static_cast<float>(n);
  const float variance = SumOver(x, n,
                                 [mean](v128_t v) {
                                   const v128_t centred = wasm_f32x4_sub(v, Splat(mean));
                                   return wasm_f32x4_mul(centred, centred);
                                 }) /
                         static_cast<float>(n);
  const float inverse = 1.0f / std::sqrt(variance + epsilon);
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const v128_t centred = wasm_f32x4_sub(wasm_v128_load(x + i), Splat(mean));
    const v128_t scaled =
        wasm_f32x4_mul(wasm_f32x4_mul(centred, Splat(inverse)), wasm_v128_load(gain + i));
    wasm_v128_store(y + i, wasm_f32x4_add(scaled, wasm_v128_load(bias + i)));
  }
  for (; i < n; ++i) y[i] = (x[i] - mean) * inverse * gain[i] + bias[i];
}

void GeluTanh_Simd128(float* x, std::size_t n) {
  Transform(x, n, [](v128_t v) {
    const v128_t cube = wasm_f32x4_mul(wasm_f32x4_mul(v, v), v);
    const v128_t inner = wasm_f32x4_add(v, wasm_f32x4_mul(Constant(kGeluCubic), cube));
    const v128_t u = wasm_f32x4_mul(Constant(kTwoSqrt2OverPi), inner);
    return wasm_f32x4_div(v, wasm_f32x4_add(Constant(kOne), Exp(wasm_f32x4_neg(u))));
  });
}

void GeluErf_Simd128(float* x, std::size_t n) {
  Transform(x, n, [](v128_t v) {
    const v128_t erf = Erf(wasm_f32x4_mul(v, Constant(kSqrtHalf)));
    return wasm_f32x4_mul(wasm_f32x4_mul(Splat(0.5f), v), wasm_f32x4_add(Constant(kOne), erf));
  });
}

void Relu_Simd128(float* x, std::size_t n) {
  Transform(x, n, [](v128_t v) { return wasm_f32x4_pmax(v, Splat(0.0f)); });
}

void Swish_Simd128(float* x, float beta, std::size_t n) {
  Transform(x, n, [beta](v128_t v) {
    const v128_t scaled = wasm_f32x4_mul(Splat(beta), v);
    return wasm_f32x4_div(v, wasm_f32x4_add(Constant(kOne), Exp(wasm_f32x4_neg(scaled))));
  });
}

void AddTo_Simd128(float* x, const float* delta, std::size_t n) {
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    wasm_v128_store(x + i, wasm_f32x4_add(wasm_v128_load(x + i), wasm_v128_load(delta + i)));
  }
  for (; i < n; ++i) x[i] += delta[i];
}

void AttendF32_Simd128(const float* q, const KvHeadF32& kv, std::size_t dim, std::size_t positions,
                       float* out) {
  alignas(16) float query[kMaxHeadDim];
  alignas(16) float mixed[kMaxHeadDim];
  alignas(16) float weights[kKvBlock];
  const std::size_t padded = kv.padded_dim;
  std::copy(q, q + dim, query);
  std::fill(query + dim, query + padded, 0.0f);
  std::fill(mixed, mixed + padded, 0.0f);
  const float scale = 1.0f / std::sqrt(static_cast<float>(dim));
  OnlineSoftmax softmax;
  for (std::size_t start = 0; start < positions; start += kKvBlock) {
    const std::size_t count = std::min(kKvBlock, positions - start);
    for (std::size_t j = 0; j < count; ++j) {
      const float* key = kv.keys + (start + j) * padded;
      v128_t score = Splat(0.0f);
      for (std::size_t d = 0; d < padded; d += 4) {
        score = MulAdd(wasm_v128_load(query + d), wasm_v128_load(key + d), score);
      }
      weights[j] = SumLanes(score) * scale;
    }
    const v128_t shrink = Splat(softmax.Absorb(weights, count));
    for (std::size_t d = 0; d < padded; d += 4) {
      v128_t sum = wasm_f32x4_mul(wasm_v128_load(mixed + d), shrink);
      const float* value = kv.values + start * padded + d;
      for (std::size_t j = 0; j < count; ++j, value += padded) {
        sum = MulAdd(Splat(weights[j]), wasm_v128_load(value), sum);
      }
      wasm_v128_store(mixed + d, sum);
    }
  }
  WriteMixed(mixed, softmax.sum, dim, out);
}

void StoreQ8_Simd128(const float* key, const float* value, std::size_t dim, std::size_t position,
                     const KvHeadQ8& kv) {
  alignas(16) std::int8_t codes[kMaxHeadDim + 16];
  const auto quantize = [&](const float* x) {
    return QuantizeValues(x, dim, ActivationCodes::kSigned, RoundUp(dim, 16), codes).scale;
  };
  kv.key_scales[position] = quantize(key);
  std::int8_t* keys = kv.keys + kv.VectorIndex(position, 0) + position % 4 * 4;
  for (std::size_t d = 0; d < dim; d += 4, keys += kKvQuads * 16) std::memcpy(keys, codes + d, 4);
  kv.value_scales[position] = quantize(value);
  std::int8_t* values = kv.values + kv.VectorIndex(position, 0) + position % 4;
  for (std::size_t d = 0; d < dim; d += 4, values += kKvQuads * 16) {
    for (std::size_t i = 0; i < 4; ++i) values[i * 4] = codes[d + i];
  }
}

void AttendQ8_Simd128(const float* q, const KvHeadQ8& kv, std::size_t dim, std::size_t positions,
                      float* out) {
  simd::AttendQ8<PlainDot>(q, kv, dim, positions, out);
}

SoftmaxSums SoftmaxStats_Simd128(const float* x, std::size_t n) {
  v128_t maxima = Splat(x[0]);
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) maxima = wasm_f32x4_pmax(maxima, wasm_v128_load(x + i));
  float maximum = MaxLane(maxima);
  for (; i < n; ++i) maximum = std::max(maximum, x[i]);
  const float sum =
      SumOver(x, n, [maximum](v128_t v) { return Exp(wasm_f32x4_sub(v, Splat(maximum))); });
  return {maximum, sum};
}

}  // namespace gpt2
