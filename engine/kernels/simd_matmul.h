// The 8-bit and 4-bit matmuls over one of the dot products of simd_dot.h.
#pragma once

#include "engine/kernels/kernels.h"
#include "engine/kernels/simd_dot.h"
#include "engine/kernels/simd_math.h"
#include "engine/kernels/simd_token.h"

namespace gpt2::simd {

// The integer sums of one group: kTileRows rows in two vectors, times kTokens tokens. Each weight
// vector is loaded once for all of them.
template <DotProduct Dot, int kTokens>
void SumGroup(const Dot& dot, const Q8Block& block, const GroupInput& x,
              v128_t (&sums)[kTokens][2]) {
  typename Dot::Sum sum[kTokens][2];
  v128_t zero[kTokens];
  for (int t = 0; t < kTokens; ++t) {
    zero[t] = dot.LoadZero(x.offsets + t);
    for (int half = 0; half < 2; ++half) {
      sum[t][half] = dot.Start(wasm_i32x4_load16x4(block.negative_sums + half * 4), zero[t]);
    }
  }
  // Unrolled further, the sums would exceed a browser's 15 registers: 0.6 times as fast.
#ifdef __clang__
#pragma clang loop unroll_count(2)
#endif
  for (std::size_t step = 0; step < kGroupSteps; ++step) {
    const std::int8_t* codes = block.codes + step * kStepBytes;
    const auto rows_0123 = dot.LoadWeights(codes);
    const auto rows_4567 = dot.LoadWeights(codes + kStepBytes / 2);
    for (int t = 0; t < kTokens; ++t) {
      const auto in = dot.LoadActivation(x.codes + t * kGroup + step * kStepInputs, zero[t]);
      dot.AddNonNegative(sum[t][0], rows_0123, in);
      dot.AddNonNegative(sum[t][1], rows_4567, in);
    }
  }
  for (int t = 0; t < kTokens; ++t) {
    for (int half = 0; half < 2; ++half) sums[t][half] = dot.FinishNonNegative(sum[t][half]);
  }
}

// The same on 4-bit codes: sum of (code - zero) x = sum of code x - zero * sum of x.
template <DotProduct Dot, int kTokens>
void SumGroup(const Dot& dot, const Q4Block& block, const GroupInput& x,
              v128_t (&sums)[kTokens][2]) {
  typename Dot::NibbleSum sum[kTokens][2];
  for (int t = 0; t < kTokens; ++t) sum[t][0] = sum[t][1] = dot.StartNibbles(x.offsets + t);
  // Not unrolled for the same reason: 0.8 times as fast.
#ifdef __clang__
#pragma clang loop unroll_count(1)
#endif
  for (std::size_t pair = 0; pair < kGroupSteps / 2; ++pair) {
    const std::uint8_t* codes = block.codes + pair * kStepBytes;
    const auto rows_0123 = dot.LoadNibbles(codes);
    const auto rows_4567 = dot.LoadNibbles(codes + kStepBytes / 2);
    for (int t = 0; t < kTokens; ++t) {
      const auto in = dot.LoadNibbleInput(x.codes + t * kGroup + pair * 2 * kStepInputs);
      dot.AddNibbles(sum[t][0], rows_0123, in);
      dot.AddNibbles(sum[t][1], rows_4567, in);
    }
  }
  for (int t = 0; t < kTokens; ++t) {
    for (int half = 0; half < 2; ++half) {
      sums[t][half] = dot.FinishNibbles(sum[t][half], x.offsets + t);
    }
  }
}

// One tile of weights, kTileRows rows, times kTokens tokens of x from `token` on.
template <DotProduct Dot, int kTokens, typename Weights>
void MatmulTile(const Weights& w, const QuantizedActivations& x, std::size_t tile,
                std::size_t token, MatView<float> y) {
  const Dot dot;
  v128_t total[kTokens][2];
  for (int t = 0; t < kTokens; ++t) total[t][0] = total[t][1] = Splat(0.0f);
  for (std::size_t g = 0; g < w.groups; ++g) {
    const auto& block = w.blocks[tile * w.groups + g];
    v128_t sums[kTokens][2];
    const std::size_t place = x.Place(token, g, x.groups);
    SumGroup(dot, block, {x.codes + place * kGroup, x.offsets + place}, sums);
    const v128_t scale[2] = {LoadBFloat16(block.scales), LoadBFloat16(block.scales + 4)};
    for (int t = 0; t < kTokens; ++t) {
      const v128_t in_scale = wasm_v128_load32_splat(x.scales + place + t);
      for (int half = 0; half < 2; ++half) {
        total[t][half] = MulAdd(wasm_f32x4_convert_i32x4(sums[t][half]),
                                wasm_f32x4_mul(scale[half], in_scale), total[t][half]);
      }
    }
  }

  const float* bias = w.bias + tile * kTileRows;
  for (int t = 0; t < kTokens; ++t) {
    float* out = y.data + (token + t) * y.stride + tile * kTileRows;
    for (int half = 0; half < 2; ++half) {
      wasm_v128_store(out + half * 4,
                      wasm_f32x4_add(total[t][half], wasm_v128_load(bias + half * 4)));
    }
  }
}

// The remaining tokens, fewer than Dot::kTokens but more than one.
template <DotProduct Dot, int kTokens, typename Weights>
void MatmulRest(const Weights& w, const QuantizedActivations& x, std::size_t tile,
                std::size_t token, MatView<float> y) {
  if constexpr (kTokens > 1) {
    if (x.tokens - token == kTokens) return MatmulTile<Dot, kTokens>(w, x, tile, token, y);
    MatmulRest<Dot, kTokens - 1>(w, x, tile, token, y);
  }
}

// `Weights` is TiledQ8 or TiledQ4.
template <DotProduct Dot, typename Weights>
void MatmulQuantized(const Weights& w, const QuantizedActivations& x, TileRange tiles,
                     MatView<float> y) {
  static_assert(kTokenBlock % Dot::kTokens == 0, "tokens of one tile lie in one block");
  if (x.tokens > 1) {
    for (std::size_t tile = tiles.first; tile < tiles.last; ++tile) {
      std::size_t token = 0;
      for (; token + Dot::kTokens <= x.tokens; token += Dot::kTokens) {
        MatmulTile<Dot, Dot::kTokens>(w, x, tile, token, y);
      }
      MatmulRest<Dot, Dot::kTokens - 1>(w, x, tile, token, y);
    }
  }
  if (x.tokens % Dot::kTokens == 1) {
    const std::size_t token = x.tokens - 1;
    MatmulToken<Dot>(w, x, token, tiles, y.data + token * y.stride);
  }
}

}  // namespace gpt2::simd
