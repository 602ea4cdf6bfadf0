// Attention of one query over a head's cache, block by block with an online softmax.
#pragma once

#include <algorithm>
#include <cmath>

#include "engine/base/aligned_buffer.h"
#include "engine/kernels/kernels.h"
#include "engine/kernels/simd_dot.h"
#include "engine/kernels/simd_math.h"

namespace gpt2::simd {

// The online softmax of attention; see its twin in reference.cc.
struct OnlineSoftmax {
  float maximum = -INFINITY;
  float sum = 0.0f;

  float Absorb(float* scores, std::size_t count) {
    const float before = maximum;
    std::size_t i = 0;
    v128_t maxima = Splat(maximum);
    for (; i + 4 <= count; i += 4) maxima = wasm_f32x4_pmax(maxima, wasm_v128_load(scores + i));
    maximum = MaxLane(maxima);
    for (; i < count; ++i) maximum = std::max(maximum, scores[i]);
    // The maximum usually stays, and exp(0) is exactly 1.
    const float shrink = before == maximum     ? 1.0f
                         : before == -INFINITY ? 0.0f
                                               : gpt2::Exp(before - maximum);
    v128_t block_sum = Splat(0.0f);
    for (std::size_t j = 0; j < kKvBlock; j += 4) {
      v128_t weights = Splat(0.0f);
      if (j + 4 <= count) {
        const v128_t v = wasm_v128_load(scores + j);
        weights = wasm_f32x4_add(Exp(wasm_f32x4_sub(v, Splat(maximum))), wasm_f32x4_sub(v, v));
      } else if (j < count) {
        for (i = j; i < count; ++i) {
          scores[i] = gpt2::Exp(scores[i] - maximum) + (scores[i] - scores[i]);
        }
        weights = LoadPart(scores + j, count - j);
      }
      wasm_v128_store(scores + j, weights);
      block_sum = wasm_f32x4_add(block_sum, weights);
    }
    sum = sum * shrink + SumLanes(block_sum);
    return shrink;
  }
};

// out [dim] = mixed [padded_dim] / sum
inline void WriteMixed(const float* mixed, float sum, std::size_t dim, float* out) {
  std::size_t d = 0;
  for (; d + 4 <= dim; d += 4) {
    wasm_v128_store(out + d, wasm_f32x4_div(wasm_v128_load(mixed + d), Splat(sum)));
  }
  for (; d < dim; ++d) out[d] = mixed[d] / sum;
}

// scores [kKvBlock] = q . k of a block, scaled. The whole block is read: scores beyond the cache's
// last position are not used. As many sums run at once as registers can hold.
template <DotProduct Dot>
void ScoreKeys(const typename Dot::SignedGroup* q_groups, std::int32_t q_negative,
               const std::int8_t* keys, const float* key_scales, std::size_t padded, v128_t q_scale,
               float* scores) {
  const Dot dot;
  for (std::size_t first = 0; first < kKvQuads; first += Dot::kKeyQuads) {
    typename Dot::Sum sum[Dot::kKeyQuads];
    for (std::size_t d = 0; d < padded; d += 4) {
      const auto q = dot.LoadInput(q_groups[d / kGroup], d % kGroup / kStepInputs);
      for (std::size_t i = 0; i < Dot::kKeyQuads; ++i) {
        dot.Add(sum[i], dot.LoadWeights(keys + (d / 4 * kKvQuads + first + i) * 16), q);
      }
    }
    for (std::size_t i = 0; i < Dot::kKeyQuads; ++i) {
      const std::size_t quad = (first + i) * 4;
      const v128_t scale = wasm_f32x4_mul(q_scale, wasm_v128_load(key_scales + quad));
      const v128_t products = wasm_f32x4_convert_i32x4(dot.Finish(sum[i], q_negative));
      wasm_v128_store(scores + quad, wasm_f32x4_mul(products, scale));
    }
  }
}

// mixed [padded] = mixed * shrink + one block's weights times its values.
template <DotProduct Dot>
void MixValues(const std::int8_t* values, std::size_t padded, const std::int8_t* weight_codes,
               v128_t shrink, v128_t weight_scale, float* mixed) {
  const Dot dot;
  typename Dot::NonNegative weights[kKvQuads];
  for (std::size_t quad = 0; quad < kKvQuads; ++quad) {
    weights[quad] = dot.LoadNonNegative(weight_codes + quad * 4);
  }
  for (std::size_t d = 0; d < padded; d += 4, values += kKvBlock * 4) {
    typename Dot::Sum sum;
    for (std::size_t quad = 0; quad < kKvQuads; ++quad) {
      dot.AddNonNegative(sum, dot.LoadWeights(values + quad * 16), weights[quad]);
    }
    const v128_t products = wasm_f32x4_convert_i32x4(dot.FinishNonNegative(sum));
    const v128_t before = wasm_f32x4_mul(wasm_v128_load(mixed + d), shrink);
    wasm_v128_store(mixed + d, wasm_f32x4_add(before, wasm_f32x4_mul(products, weight_scale)));
  }
}

template <DotProduct Dot>
void AttendQ8(const float* q, const KvHeadQ8& kv, std::size_t dim, std::size_t positions,
              float* out) {
  static_assert(kMaxHeadDim % kGroup == 0);
  alignas(16) std::int8_t q_codes[kMaxHeadDim];
  typename Dot::SignedGroup q_groups[kMaxHeadDim / kGroup];
  alignas(16) float mixed[kMaxHeadDim];
  alignas(16) float weights[kKvBlock];
  alignas(16) std::int8_t weight_codes[kKvBlock];
  const std::size_t padded = kv.padded_dim;
  const std::size_t room = RoundUp(dim, kGroup);
  const float code_scale = QuantizeValues(q, dim, ActivationCodes::kSigned, room, q_codes).scale;
  const v128_t q_scale = Splat(code_scale / std::sqrt(static_cast<float>(dim)));
  const std::int32_t q_negative = -SumCodes(q_codes, room, /*most=*/0);
  for (std::size_t d = 0; d < room; d += kGroup)
    q_groups[d / kGroup] = Dot::PrepareGroup(q_codes + d);
  OnlineSoftmax softmax;
  std::fill(mixed, mixed + padded, 0.0f);
  for (std::size_t start = 0; start < positions; start += kKvBlock) {
    const std::size_t count = std::min(kKvBlock, positions - start);
    ScoreKeys<Dot>(q_groups, q_negative, kv.keys + start * padded, kv.key_scales + start, padded,
                   q_scale, weights);
    const v128_t shrink = Splat(softmax.Absorb(weights, count));
    for (std::size_t j = 0; j < count; j += 4) {
      // Not beyond the last position: a scale there may be left from a run that failed, and not
      // finite.
      const float* scales = kv.value_scales + start + j;
      const v128_t scale = j + 4 <= count ? wasm_v128_load(scales) : LoadPart(scales, count - j);
      wasm_v128_store(weights + j, wasm_f32x4_mul(wasm_v128_load(weights + j), scale));
    }
    const GroupCodes coded =
        QuantizeValues(weights, kKvBlock, ActivationCodes::kSigned, kKvBlock, weight_codes);
    MixValues<Dot>(kv.values + start * padded, padded, weight_codes, shrink, Splat(coded.scale),
                   mixed);
  }
  WriteMixed(mixed, softmax.sum, dim, out);
}

}  // namespace gpt2::simd
