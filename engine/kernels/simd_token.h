// One token times a matrix of 8-bit or 4-bit weights: the matmuls of every token that a model
// writes. Those of several tokens are in simd_matmul.h; both give the same bits.
#pragma once

#include <algorithm>
#include <type_traits>

#include "engine/kernels/kernels.h"
#include "engine/kernels/simd_dot.h"
#include "engine/kernels/simd_math.h"

namespace gpt2::simd {

inline constexpr std::size_t kStepBytes = kTileRows * kStepInputs;  // a step or step pair of a tile

// The inputs of one group, for one or more tokens.
struct GroupInput {
  const std::int8_t* codes;     // [tokens, kGroup]
  const std::int32_t* offsets;  // [tokens]
};

// A group of one token without its zero point, for 8-bit weights. With several tokens, the sums of
// the weights take the zero point off. For one token alone, with weights from memory, an `xor` for
// each vector of weights is faster.
template <DotProduct Dot>
struct SignedInput {
  typename Dot::SignedGroup codes;
  std::int32_t negative;  // see DotProduct

  explicit SignedInput(const GroupInput& x) {
    const v128_t zero = wasm_i8x16_splat(static_cast<std::int8_t>(*x.offsets));
    alignas(16) std::int8_t differences[kGroup];
    for (std::size_t i = 0; i < kGroup; i += 16) {
      wasm_v128_store(differences + i, wasm_i8x16_sub(wasm_v128_load(x.codes + i), zero));
    }
    codes = Dot::PrepareGroup(differences);
    negative = -SumCodes(differences, kGroup, /*most=*/0);
  }
  SignedInput() {}  // not set: an array of them is filled later
};

// The integer sums of one group of two tiles, which share the loads of the input.
template <DotProduct Dot>
void SumTwoTiles(const Dot& dot, const Q8Block* const (&blocks)[2], const SignedInput<Dot>& x,
                 v128_t (&sums)[2][2]) {
  typename Dot::Sum sum[2][2];
  // Not unrolled, since a compiler would load more in advance than a browser has registers for:
  // 0.8 times as fast, 0.95 unrolled once.
#ifdef __clang__
#pragma clang loop unroll_count(1)
#endif
  for (std::size_t step = 0; step < kGroupSteps; ++step) {
    const auto in = dot.LoadInput(x.codes, step);
    for (int i = 0; i < 2; ++i) {
      const std::int8_t* codes = blocks[i]->codes + step * kStepBytes;
      dot.Add(sum[i][0], dot.LoadWeights(codes), in);
      dot.Add(sum[i][1], dot.LoadWeights(codes + kStepBytes / 2), in);
    }
  }
  for (int i = 0; i < 2; ++i) {
    for (int half = 0; half < 2; ++half) sums[i][half] = dot.Finish(sum[i][half], x.negative);
  }
}

template <DotProduct Dot>
void SumTwoTiles(const Dot& dot, const Q4Block* const (&blocks)[2], const GroupInput& x,
                 v128_t (&sums)[2][2]) {
  typename Dot::NibbleSum sum[2][2];
  for (int i = 0; i < 2; ++i) sum[i][0] = sum[i][1] = dot.StartNibbles(x.offsets);
#ifdef __clang__
#pragma clang loop unroll_count(1)
#endif
  for (std::size_t pair = 0; pair < kGroupSteps / 2; ++pair) {
    const auto in = dot.LoadNibbleInput(x.codes + pair * 2 * kStepInputs);
    for (int i = 0; i < 2; ++i) {
      const std::uint8_t* codes = blocks[i]->codes + pair * kStepBytes;
      dot.AddNibbles(sum[i][0], dot.LoadNibbles(codes), in);
      dot.AddNibbles(sum[i][1], dot.LoadNibbles(codes + kStepBytes / 2), in);
    }
  }
  for (int i = 0; i < 2; ++i) {
    for (int half = 0; half < 2; ++half) sums[i][half] = dot.FinishNibbles(sum[i][half], x.offsets);
  }
}

// Rows of two tiles, `tile` and the one `apart` tiles after it, over groups [first, last). input(g)
// is the token's group g, and in_scales [groups, kTokenBlock] begins with its own scales. y holds
// the sums of the earlier groups; the bias is added after the last group.
template <DotProduct Dot, typename Weights, typename Input>
void MatmulTwoTiles(const Weights& w, Input input, const float* in_scales, std::size_t tile,
                    std::size_t apart, std::size_t first, std::size_t last, float* y) {
  const Dot dot;
  const auto row = [&](int i, int half) { return (tile + i * apart) * kTileRows + half * 4; };
  v128_t total[2][2];
  for (int i = 0; i < 2; ++i) {
    for (int half = 0; half < 2; ++half) {
      total[i][half] = first == 0 ? Splat(0.0f) : wasm_v128_load(y + row(i, half));
    }
  }
  for (std::size_t g = first; g < last; ++g) {
    const auto* block = w.blocks + tile * w.groups + g;
    const decltype(block) blocks[2] = {block, block + apart * w.groups};
    v128_t sums[2][2];
    SumTwoTiles(dot, blocks, input(g), sums);
    const v128_t in_scale = wasm_v128_load32_splat(in_scales + g * kTokenBlock);
    for (int i = 0; i < 2; ++i) {
      for (int half = 0; half < 2; ++half) {
        const v128_t scale = LoadBFloat16(blocks[i]->scales + half * 4);
        total[i][half] = MulAdd(wasm_f32x4_convert_i32x4(sums[i][half]),
                                wasm_f32x4_mul(scale, in_scale), total[i][half]);
      }
    }
  }
  for (int i = 0; i < 2; ++i) {
    for (int half = 0; half < 2; ++half) {
      if (last == w.groups) {
        total[i][half] = wasm_f32x4_add(total[i][half], wasm_v128_load(w.bias + row(i, half)));
      }
      wasm_v128_store(y + row(i, half), total[i][half]);
    }
  }
}

// y [rows] of one token of x. Each tile of the range's first half is computed with one of the
// second. So the processor reads ahead in two places, and two tiles share the loads of the input.
// In an odd range, the middle tile has no partner and is computed twice.
template <DotProduct Dot, typename Weights>
void MatmulToken(const Weights& w, const QuantizedActivations& x, std::size_t token,
                 TileRange tiles, float* y) {
  constexpr std::size_t kPrepared = 128;  // groups of the token at once
  constexpr bool kIsQ8 = std::is_same_v<Weights, TiledQ8>;
  [[maybe_unused]] SignedInput<Dot> prepared[kIsQ8 ? kPrepared : 1];
  const auto as_stored = [&](std::size_t g) {
    const std::size_t place = x.Place(token, g, x.groups);
    return GroupInput{x.codes + place * kGroup, x.offsets + place};
  };
  const float* in_scales = x.scales + x.Place(token, /*group=*/0, x.groups);
  const std::size_t half = (tiles.last - tiles.first + 1) / 2;
  for (std::size_t first = 0; first < w.groups; first += kPrepared) {
    const std::size_t last = std::min(first + kPrepared, w.groups);
    if constexpr (kIsQ8) {
      for (std::size_t g = first; g < last; ++g)
        prepared[g - first] = SignedInput<Dot>(as_stored(g));
    }
    for (std::size_t tile = tiles.first; tile < tiles.first + half; ++tile) {
      const std::size_t apart = tile + half < tiles.last ? half : 0;
      if constexpr (kIsQ8) {
        const auto input = [&](std::size_t g) -> const auto& { return prepared[g - first]; };
        MatmulTwoTiles<Dot>(w, input, in_scales, tile, apart, first, last, y);
      } else {
        MatmulTwoTiles<Dot>(w, as_stored, in_scales, tile, apart, first, last, y);
      }
    }
  }
}

}  // namespace gpt2::simd
