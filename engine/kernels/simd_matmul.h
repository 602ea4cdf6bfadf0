// The 8-bit and 4-bit matmuls over one of the dot products of simd_dot.h.
#pragma once

#include "engine/kernels/kernels.h"
#include "engine/kernels/simd_dot.h"
#include "engine/kernels/simd_math.h"

namespace gpt2::simd {

// The integer sums of one group: kTileRows rows in two vectors, times kTokens tokens whose inputs
// lie `stride` codes and w.groups sums apart. Each weight vector is loaded once for all tokens.
template <DotProduct Dot, int kTokens>
void SumGroup(const TiledQ8& w, std::size_t tile_group, const std::int8_t* input,
              std::size_t stride, const CodeSums* input_sums, v128_t (&sums)[kTokens][2]) {
  constexpr std::size_t kStepBytes = kTileRows * kStepInputs;
  const std::int8_t* codes = w.codes + tile_group * kGroup * kTileRows;
  typename Dot::Sum sum[kTokens][2];
  for (std::size_t step = 0; step < kGroupSteps; ++step) {
    const auto rows_0123 = Dot::LoadWeights(codes + step * kStepBytes);
    const auto rows_4567 = Dot::LoadWeights(codes + step * kStepBytes + kStepBytes / 2);
    for (int t = 0; t < kTokens; ++t) {
      const typename Dot::Input in = Dot::LoadInput(input + t * stride + step * kStepInputs);
      Dot::Add(sum[t][0], rows_0123, in);
      Dot::Add(sum[t][1], rows_4567, in);
    }
  }
  for (int t = 0; t < kTokens; ++t) {
    const std::int32_t negative = input_sums[t * w.groups].negative;
    for (int half = 0; half < 2; ++half) sums[t][half] = Dot::Finish(sum[t][half], negative);
  }
}

// The same on 4-bit codes: sum of (code - zero) x = sum of code x - zero * sum of x.
template <DotProduct Dot, int kTokens>
void SumGroup(const TiledQ4& w, std::size_t tile_group, const std::int8_t* input,
              std::size_t stride, const CodeSums* input_sums, v128_t (&sums)[kTokens][2]) {
  constexpr std::size_t kPairBytes = kTileRows * kStepInputs;
  const std::uint8_t* codes = w.codes + tile_group * kGroup * kTileRows / 2;
  typename Dot::NibbleSum sum[kTokens][2];
  for (std::size_t pair = 0; pair < kGroupSteps / 2; ++pair) {
    const auto rows_0123 = Dot::LoadNibbles(codes + pair * kPairBytes);
    const auto rows_4567 = Dot::LoadNibbles(codes + pair * kPairBytes + kPairBytes / 2);
    for (int t = 0; t < kTokens; ++t) {
      const auto in = Dot::LoadNibbleInput(input + t * stride + pair * 2 * kStepInputs);
      Dot::AddNibbles(sum[t][0], rows_0123, in);
      Dot::AddNibbles(sum[t][1], rows_4567, in);
    }
  }
  for (int t = 0; t < kTokens; ++t) {
    const v128_t zero = wasm_i32x4_splat(kQ4Zero * input_sums[t * w.groups].all);
    for (int half = 0; half < 2; ++half) {
      sums[t][half] = wasm_i32x4_sub(sum[t][half].lanes, zero);
    }
  }
}

// One tile of weights, kTileRows rows, times kTokens tokens of x from `token` on.
template <DotProduct Dot, int kTokens, typename Weights>
void MatmulTile(const Weights& w, const QuantizedActivations& x, std::size_t tile,
                std::size_t token, MatView<float> y) {
  const std::size_t stride = w.groups * kGroup;
  v128_t total[kTokens][2];
  for (int t = 0; t < kTokens; ++t) total[t][0] = total[t][1] = Splat(0.0f);
  for (std::size_t g = 0; g < w.groups; ++g) {
    v128_t sums[kTokens][2];
    SumGroup<Dot, kTokens>(w, tile * w.groups + g, x.codes + token * stride + g * kGroup, stride,
                           x.sums + token * w.groups + g, sums);
    const BFloat16* scales = w.scales + (tile * w.groups + g) * kTileRows;
    const v128_t scale[2] = {LoadBFloat16(scales), LoadBFloat16(scales + 4)};
    for (int t = 0; t < kTokens; ++t) {
      const v128_t in_scale = wasm_v128_load32_splat(x.scales + (token + t) * w.groups + g);
      for (int half = 0; half < 2; ++half) {
        total[t][half] = MulAdd(wasm_f32x4_convert_i32x4(sums[t][half]),
                                wasm_f32x4_mul(scale[half], in_scale), total[t][half]);
      }
    }
  }

  const float* bias = w.bias + tile * kTileRows;
  for (int t = 0; t < kTokens; ++t) {
    float* out = y.data + (token + t) * y.stride + tile * kTileRows;
    wasm_v128_store(out, wasm_f32x4_add(total[t][0], wasm_v128_load(bias)));
    wasm_v128_store(out + 4, wasm_f32x4_add(total[t][1], wasm_v128_load(bias + 4)));
  }
}

// The tokens that are left when fewer than Dot::kTokens remain.
template <DotProduct Dot, int kTokens, typename Weights>
void MatmulRest(const Weights& w, const QuantizedActivations& x, std::size_t tile,
                std::size_t token, MatView<float> y) {
  if constexpr (kTokens > 0) {
    if (x.tokens - token == kTokens) return MatmulTile<Dot, kTokens>(w, x, tile, token, y);
    MatmulRest<Dot, kTokens - 1>(w, x, tile, token, y);
  }
}

// `Weights` is TiledQ8 or TiledQ4.
template <DotProduct Dot, typename Weights>
void MatmulQuantized(const Weights& w, const QuantizedActivations& x, TileRange tiles,
                     MatView<float> y) {
  for (std::size_t tile = tiles.first; tile < tiles.last; ++tile) {
    std::size_t token = 0;
    for (; token + Dot::kTokens <= x.tokens; token += Dot::kTokens) {
      MatmulTile<Dot, Dot::kTokens>(w, x, tile, token, y);
    }
    MatmulRest<Dot, Dot::kTokens - 1>(w, x, tile, token, y);
  }
}

}  // namespace gpt2::simd
