// Matmuls of two and more blocks of tokens in plain SIMD128: most of a prompt. The other tokens are
// in simd_matmul.h and simd_token.h; all give the same bits.
//
// Plain SIMD multiplies 16 bits. So weights are widened once for all blocks, and inputs once for
// several tiles. A vector of weights holds two inputs of four rows, either the first and the third
// of a step or the second and the fourth:
//   | r0: i0 i2 | r1 | r2 | r3 |   | r0: i1 i3 | r1 | r2 | r3 |
// Shifts of 16-bit lanes cut both out of four rows of a step. Each row has one lane, so no lanes
// are added after a group.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "engine/base/mat_view.h"
#include "engine/kernels/layout.h"
#include "engine/kernels/simd.h"
#include "engine/kernels/simd_dot.h"
#include "engine/kernels/simd_math.h"
#include "engine/kernels/simd_token.h"

namespace gpt2::simd {

// What is widened at once: 34 kB on the stack. Half of the groups: 0.95 times as fast.
inline constexpr std::size_t kWideTiles = 8;
inline constexpr std::size_t kWideGroups = 8;
// A single block would not make up for the widening.
inline constexpr std::size_t kLeastWideTokens = 2 * kTokenBlock;

// The bits [first, first + count) of each 16-bit lane as a signed number.
template <int first, int count>
v128_t Cut(v128_t v) {
  return wasm_i16x8_shr(wasm_i16x8_shl(v, 16 - count - first), 16 - count);
}

// One group of a tile. 4-bit codes have kQ4Zero subtracted.
struct WideWeights {
  v128_t pairs[2][kGroupSteps][2];  // [first or second pair, steps, halves of the rows]

  void Set(const Q8Block& block) {
    for (std::size_t step = 0; step < kGroupSteps; ++step) {
      for (std::size_t half = 0; half < 2; ++half) {
        const v128_t v = wasm_v128_load(block.codes + (2 * step + half) * kStepBytes / 2);
        pairs[0][step][half] = Cut<0, 8>(v);
        pairs[1][step][half] = Cut<8, 8>(v);
      }
    }
  }

  void Set(const Q4Block& block) {
    for (std::size_t step = 0; step < kGroupSteps; step += 2) {
      for (std::size_t half = 0; half < 2; ++half) {
        // The highest bit of four is flipped: a signed code - 8.
        const v128_t v = wasm_v128_xor(wasm_v128_load(block.codes + (step + half) * kStepBytes / 2),
                                       wasm_i8x16_splat(-0x78));
        pairs[0][step][half] = Cut<0, 4>(v);
        pairs[0][step + 1][half] = Cut<4, 4>(v);
        pairs[1][step][half] = Cut<8, 4>(v);
        pairs[1][step + 1][half] = Cut<12, 4>(v);
      }
    }
  }
};
static_assert(kQ4Zero == 8);

// One group of a block of tokens, minus its zero points.
struct WideInputs {
  std::int32_t pairs[kTokenBlock][2][kGroupSteps];  // [tokens, first or second pair, steps]

  // codes [kTokenBlock, kGroup], zeros [kTokenBlock]
  void Set(const std::int8_t* codes, const std::int32_t* zeros) {
    for (std::size_t t = 0; t < kTokenBlock; ++t) {
      const v128_t zero = wasm_i8x16_splat(static_cast<std::int8_t>(zeros[t]));
      for (std::size_t i = 0; i < kGroup; i += 16) {
        const v128_t v = wasm_i8x16_sub(wasm_v128_load(codes + t * kGroup + i), zero);
        const v128_t cut[2] = {Cut<0, 8>(v), Cut<8, 8>(v)};
        for (int pair = 0; pair < 2; ++pair) {
          wasm_v128_store(&pairs[t][pair][i / kStepInputs], cut[pair]);
        }
      }
    }
  }
};

// The integer sums of one group: kTileRows rows in two vectors, times a block of tokens. Products
// of 4-bit codes are added in 16 bits: one instruction on arm64 instead of three for a dot product.
// Inlined, so that the sums stay in registers.
template <bool kIsQ4>
[[gnu::always_inline]] inline void SumWideGroup(const WideWeights& weights, const WideInputs& x,
                                                v128_t (&sums)[kTokenBlock][2]) {
  static_assert(kGroup / 2 * kQ4Zero * 127 < 1 << 15);
  const v128_t* pair = weights.pairs[0][0];
  const std::int32_t* input = x.pairs[0][0];
  const std::int32_t* const end = input + 2 * kGroupSteps;
  const auto add_pair = [&]<bool kIsFirst>(std::bool_constant<kIsFirst>) {
    for (std::size_t t = 0; t < kTokenBlock; ++t) {
      const v128_t in = wasm_v128_load32_splat(input + t * 2 * kGroupSteps);
      for (std::size_t half = 0; half < 2; ++half) {
        const v128_t product =
            kIsQ4 ? wasm_i16x8_mul(pair[half], in) : wasm_i32x4_dot_i16x8(pair[half], in);
        v128_t& sum = sums[t][half];
        sum = kIsFirst ? product
              : kIsQ4  ? wasm_i16x8_add(sum, product)
                       : wasm_i32x4_add(sum, product);
      }
    }
    pair += 2;
    ++input;
    // Hides the pointers from the compiler, which would compute both from a counter: 0.96 times as
    // fast.
    asm("" : "+r"(pair), "+r"(input));
  };
  add_pair(std::true_type());
  // Not unrolled: two pairs of weights and the sums exceed a browser's 15 registers.
#ifdef __clang__
#pragma clang loop unroll_count(1)
#endif
  while (input != end) add_pair(std::false_type());
  if constexpr (kIsQ4) {
    const v128_t ones = HiddenI16x8<1>();
    for (auto& halves : sums) {
      for (v128_t& sum : halves) sum = wasm_i32x4_dot_i16x8(sum, ones);
    }
  }
}

// One tile times one block of tokens over `groups` groups from `first` on, which are those of
// `weights` and x. in_scales [groups, kTokenBlock] begins with theirs. y [kTokenBlock, stride]
// holds the sums of the groups before; the bias is added after the last group of all.
template <typename Weights>
void MatmulWideTile(const Weights& w, std::size_t tile, std::size_t first, std::size_t groups,
                    const WideWeights* weights, const WideInputs* x, const float* in_scales,
                    MatView<float> y) {
  v128_t total[kTokenBlock][2];
  for (std::size_t t = 0; t < kTokenBlock; ++t) {
    for (std::size_t half = 0; half < 2; ++half) {
      total[t][half] = first == 0 ? Splat(0.0f) : wasm_v128_load(y.data + t * y.stride + half * 4);
    }
  }
  for (std::size_t g = 0; g < groups; ++g) {
    v128_t sums[kTokenBlock][2];
    SumWideGroup<std::is_same_v<Weights, TiledQ4>>(weights[g], x[g], sums);
    const BFloat16* scales = w.blocks[tile * w.groups + first + g].scales;
    const v128_t scale[2] = {LoadBFloat16(scales), LoadBFloat16(scales + 4)};
    for (std::size_t t = 0; t < kTokenBlock; ++t) {
      const v128_t in_scale = wasm_v128_load32_splat(in_scales + g * kTokenBlock + t);
      for (std::size_t half = 0; half < 2; ++half) {
        total[t][half] = MulAdd(wasm_f32x4_convert_i32x4(sums[t][half]),
                                wasm_f32x4_mul(scale[half], in_scale), total[t][half]);
      }
    }
  }
  for (std::size_t t = 0; t < kTokenBlock; ++t) {
    for (std::size_t half = 0; half < 2; ++half) {
      if (first + groups == w.groups) {
        const float* bias = w.bias + tile * kTileRows + half * 4;
        total[t][half] = wasm_f32x4_add(total[t][half], wasm_v128_load(bias));
      }
      wasm_v128_store(y.data + t * y.stride + half * 4, total[t][half]);
    }
  }
}

// The matmul of all whole blocks of tokens if there are at least kLeastWideTokens. Returns their
// number. `Weights` is TiledQ8 or TiledQ4.
template <typename Weights>
std::size_t MatmulWide(const Weights& w, const QuantizedActivations& x, TileRange tiles,
                       MatView<float> y) {
  if (x.tokens < kLeastWideTokens) return 0;
  constexpr std::int32_t kNoZeros[kTokenBlock] = {};
  constexpr bool kHasZeros = std::is_same_v<Weights, TiledQ8>;
  const std::size_t tokens = x.tokens / kTokenBlock * kTokenBlock;
  WideWeights weights[kWideTiles][kWideGroups];
  WideInputs inputs[kWideGroups];
  for (std::size_t begin = tiles.first; begin < tiles.last; begin += kWideTiles) {
    const std::size_t end = std::min(begin + kWideTiles, tiles.last);
    for (std::size_t first = 0; first < w.groups; first += kWideGroups) {
      const std::size_t groups = std::min(kWideGroups, w.groups - first);
      for (std::size_t tile = begin; tile < end; ++tile) {
        const auto* blocks = w.blocks + tile * w.groups + first;
        for (std::size_t g = 0; g < groups; ++g) weights[tile - begin][g].Set(blocks[g]);
      }
      for (std::size_t token = 0; token < tokens; token += kTokenBlock) {
        const std::size_t place = x.Place(token, first, x.groups);
        for (std::size_t g = 0; g < groups; ++g) {
          const std::size_t at = place + g * kTokenBlock;
          inputs[g].Set(x.codes + at * kGroup, kHasZeros ? x.offsets + at : kNoZeros);
        }
        for (std::size_t tile = begin; tile < end; ++tile) {
          float* out = y.data + token * y.stride + tile * kTileRows;
          MatmulWideTile(w, tile, first, groups, weights[tile - begin], inputs, x.scales + place,
                         {out, kTokenBlock, kTileRows, y.stride});
        }
      }
    }
  }
  return tokens;
}

}  // namespace gpt2::simd
