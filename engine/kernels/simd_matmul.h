// The 8-bit and 4-bit matmuls over one of the dot products of simd_dot.h.
#pragma once

#include <algorithm>
#include <type_traits>

#include "engine/kernels/kernels.h"
#include "engine/kernels/simd_dot.h"
#include "engine/kernels/simd_math.h"
#include "engine/kernels/simd_token.h"

namespace gpt2::simd {

// Groups whose sums of weights are kept at a time while the tokens are processed.
inline constexpr std::size_t kSumGroups = 128;

// Minus the sums of the weights of a group, one vector for each four rows.
struct WeightSums {
  v128_t negative[2];
};

// The sums of a tile's weights in one group, given by its codes.
template <DotProduct Dot>
WeightSums SumWeights(const Dot& dot, const std::int8_t* codes) {
  WeightSums sums;
  for (int half = 0; half < 2; ++half) {
    typename Dot::WeightSum sum;
    for (std::size_t step = 0; step < kGroupSteps; ++step) {
      dot.AddWeights(sum, dot.LoadWeights(codes + step * kStepBytes + half * 16));
    }
    sums.negative[half] = wasm_i32x4_neg(dot.FinishWeights(sum));
  }
  return sums;
}

// The integer sums of one group: kTileRows rows in two vectors, times kTokens tokens. Each weight
// vector is loaded once for all of them.
template <DotProduct Dot, int kTokens>
void SumGroup(const Dot& dot, const TiledQ8& w, std::size_t tile_group, const GroupInput& x,
              const WeightSums& weights, v128_t (&sums)[kTokens][2]) {
  const std::int8_t* codes = w.codes + tile_group * kGroup * kTileRows;
  typename Dot::Sum sum[kTokens][2];
  v128_t zero[kTokens];
  for (int t = 0; t < kTokens; ++t) {
    zero[t] = dot.LoadZero(x.offsets + t);
    for (int half = 0; half < 2; ++half) {
      sum[t][half] = dot.Start(weights.negative[half], zero[t]);
    }
  }
  // Unrolled further, the sums would exceed a browser's 15 registers: 0.6 times as fast.
#ifdef __clang__
#pragma clang loop unroll_count(2)
#endif
  for (std::size_t step = 0; step < kGroupSteps; ++step) {
    const auto rows_0123 = dot.LoadWeights(codes + step * kStepBytes);
    const auto rows_4567 = dot.LoadWeights(codes + step * kStepBytes + kStepBytes / 2);
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
void SumGroup(const Dot& dot, const TiledQ4& w, std::size_t tile_group, const GroupInput& x,
              const WeightSums& /*weights*/, v128_t (&sums)[kTokens][2]) {
  constexpr std::size_t kPairBytes = kTileRows * kStepInputs;
  const std::uint8_t* codes = w.codes + tile_group * kGroup * kTileRows / 2;
  typename Dot::NibbleSum sum[kTokens][2];
  for (int t = 0; t < kTokens; ++t) sum[t][0] = sum[t][1] = dot.StartNibbles(x.offsets + t);
  // Not unrolled for the same reason: 0.8 times as fast.
#ifdef __clang__
#pragma clang loop unroll_count(1)
#endif
  for (std::size_t pair = 0; pair < kGroupSteps / 2; ++pair) {
    const auto rows_0123 = dot.LoadNibbles(codes + pair * kPairBytes);
    const auto rows_4567 = dot.LoadNibbles(codes + pair * kPairBytes + kPairBytes / 2);
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

// One tile of weights, kTileRows rows and groups [first, last), times kTokens tokens of x from
// `token` on. y holds the sums of the groups before; the bias is added after the last.
template <DotProduct Dot, int kTokens, typename Weights>
void MatmulTile(const Weights& w, const QuantizedActivations& x, std::size_t tile,
                std::size_t first, std::size_t last, std::size_t token,
                WeightSums (&weight_sums)[kSumGroups], MatView<float> y) {
  const Dot dot;
  constexpr bool kSums = Dot::kSumsWeights && std::is_same_v<Weights, TiledQ8>;
  v128_t total[kTokens][2];
  for (int t = 0; t < kTokens; ++t) {
    const float* before = y.data + (token + t) * y.stride + tile * kTileRows;
    for (int half = 0; half < 2; ++half) {
      total[t][half] = first == 0 ? Splat(0.0f) : wasm_v128_load(before + half * 4);
    }
  }
  for (std::size_t g = first; g < last; ++g) {
    const std::size_t tile_group = tile * w.groups + g;
    WeightSums& group_sums = weight_sums[g - first];
    if constexpr (kSums) {
      if (token == 0) group_sums = SumWeights(dot, w.codes + tile_group * kGroup * kTileRows);
    }
    v128_t sums[kTokens][2];
    const std::size_t place = x.Place(token, g, x.groups);
    SumGroup(dot, w, tile_group, {x.codes + place * kGroup, x.offsets + place}, group_sums, sums);
    const BFloat16* scales = w.scales + tile_group * kTileRows;
    const v128_t scale[2] = {LoadBFloat16(scales), LoadBFloat16(scales + 4)};
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
      if (last == w.groups) {
        total[t][half] = wasm_f32x4_add(total[t][half], wasm_v128_load(bias + half * 4));
      }
      wasm_v128_store(out + half * 4, total[t][half]);
    }
  }
}

// The remaining tokens, fewer than Dot::kTokens but more than one.
template <DotProduct Dot, int kTokens, typename Weights>
void MatmulRest(const Weights& w, const QuantizedActivations& x, std::size_t tile,
                std::size_t first, std::size_t last, std::size_t token,
                WeightSums (&weight_sums)[kSumGroups], MatView<float> y) {
  if constexpr (kTokens > 1) {
    if (x.tokens - token == kTokens) {
      return MatmulTile<Dot, kTokens>(w, x, tile, first, last, token, weight_sums, y);
    }
    MatmulRest<Dot, kTokens - 1>(w, x, tile, first, last, token, weight_sums, y);
  }
}

// `Weights` is TiledQ8 or TiledQ4.
template <DotProduct Dot, typename Weights>
void MatmulQuantized(const Weights& w, const QuantizedActivations& x, TileRange tiles,
                     MatView<float> y) {
  static_assert(kTokenBlock % Dot::kTokens == 0, "tokens of one tile lie in one block");
  if (x.tokens > 1) {
    WeightSums weight_sums[kSumGroups];
    for (std::size_t tile = tiles.first; tile < tiles.last; ++tile) {
      for (std::size_t first = 0; first < w.groups; first += kSumGroups) {
        const std::size_t last = std::min(first + kSumGroups, w.groups);
        std::size_t token = 0;
        for (; token + Dot::kTokens <= x.tokens; token += Dot::kTokens) {
          MatmulTile<Dot, Dot::kTokens>(w, x, tile, first, last, token, weight_sums, y);
        }
        MatmulRest<Dot, Dot::kTokens - 1>(w, x, tile, first, last, token, weight_sums, y);
      }
    }
  }
  if (x.tokens % Dot::kTokens == 1) {
    const std::size_t token = x.tokens - 1;
    MatmulToken<Dot>(w, x, token, tiles, y.data + token * y.stride);
  }
}

}  // namespace gpt2::simd
