// The 8-bit matmul over one of the dot products of simd_dot.h.
#pragma once

#include "engine/kernels/kernels.h"
#include "engine/kernels/simd_dot.h"
#include "engine/kernels/simd_math.h"

namespace gpt2::simd {

// One tile of weights, kTileRows rows, times kTokens rows of x from `token` on. The sums of a group
// stay in registers; each weight vector is loaded once for all tokens.
template <typename Dot, int kTokens>
void MatmulQ8Tile(const TiledQ8& w, const QuantizedRows& x, std::size_t tile, std::size_t token,
                  MatView<float> y) {
  constexpr std::size_t kStepBytes = kTileRows * kStepInputs;
  const std::int8_t* codes = w.codes + tile * w.groups * kGroup * kTileRows;
  const BFloat16* scales = w.scales + tile * w.groups * kTileRows;
  const std::int8_t* input = x.codes + token * w.groups * kGroup;
  const float* input_scales = x.scales + token * w.groups;
  v128_t total[kTokens][2];
  for (int t = 0; t < kTokens; ++t) total[t][0] = total[t][1] = Splat(0.0f);

  for (std::size_t g = 0; g < w.groups; ++g) {
    typename Dot::Sum sum[kTokens][2];
    for (std::size_t step = 0; step < kGroupSteps; ++step) {
      const auto rows_0123 = Dot::LoadWeights(codes + step * kStepBytes);
      const auto rows_4567 = Dot::LoadWeights(codes + step * kStepBytes + kStepBytes / 2);
      for (int t = 0; t < kTokens; ++t) {
        const v128_t in = Dot::LoadInput(input + t * w.groups * kGroup + step * kStepInputs);
        Dot::Add(sum[t][0], rows_0123, in);
        Dot::Add(sum[t][1], rows_4567, in);
      }
    }
    const v128_t scale_0123 = LoadBFloat16(scales);
    const v128_t scale_4567 = LoadBFloat16(scales + 4);
    for (int t = 0; t < kTokens; ++t) {
      const v128_t in_scale = wasm_v128_load32_splat(input_scales + t * w.groups);
      total[t][0] = MulAdd(wasm_f32x4_convert_i32x4(Dot::Finish(sum[t][0])),
                           wasm_f32x4_mul(scale_0123, in_scale), total[t][0]);
      total[t][1] = MulAdd(wasm_f32x4_convert_i32x4(Dot::Finish(sum[t][1])),
                           wasm_f32x4_mul(scale_4567, in_scale), total[t][1]);
    }
    codes += kGroup * kTileRows;
    scales += kTileRows;
    input += kGroup;
    input_scales += 1;
  }

  const float* bias = w.bias + tile * kTileRows;
  for (int t = 0; t < kTokens; ++t) {
    float* out = y.data + (token + t) * y.stride + tile * kTileRows;
    wasm_v128_store(out, wasm_f32x4_add(total[t][0], wasm_v128_load(bias)));
    wasm_v128_store(out + 4, wasm_f32x4_add(total[t][1], wasm_v128_load(bias + 4)));
  }
}

// The tokens that are left when fewer than Dot::kTokens remain.
template <typename Dot, int kTokens>
void MatmulQ8Rest(const TiledQ8& w, const QuantizedRows& x, std::size_t tile, std::size_t token,
                  MatView<float> y) {
  if constexpr (kTokens > 0) {
    if (x.rows - token == kTokens) return MatmulQ8Tile<Dot, kTokens>(w, x, tile, token, y);
    MatmulQ8Rest<Dot, kTokens - 1>(w, x, tile, token, y);
  }
}

template <typename Dot>
void MatmulQ8(const TiledQ8& w, const QuantizedRows& x, TileRange tiles, MatView<float> y) {
  for (std::size_t tile = tiles.first; tile < tiles.last; ++tile) {
    std::size_t token = 0;
    for (; token + Dot::kTokens <= x.rows; token += Dot::kTokens) {
      MatmulQ8Tile<Dot, Dot::kTokens>(w, x, tile, token, y);
    }
    MatmulQ8Rest<Dot, Dot::kTokens - 1>(w, x, tile, token, y);
  }
}

}  // namespace gpt2::simd
