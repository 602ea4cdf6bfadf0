// One row of attention over a head's cache, block by block with a running softmax.
#pragma once

#include <algorithm>
#include <cmath>

#include "engine/kernels/kernels.h"
#include "engine/kernels/simd_dot.h"
#include "engine/kernels/simd_math.h"

namespace gpt2::simd {

// The running softmax of attention; its twin in reference.cc says what it computes.
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
    // Mostly the maximum stays, and exp(0) is exactly 1.
    const float shrink = before == maximum     ? 1.0f
                         : before == -INFINITY ? 0.0f
                                               : gpt2::Exp(before - maximum);
    v128_t block_sum = Splat(0.0f);
    for (std::size_t j = 0; j < kKvBlock; j += 4) {
      v128_t weights = Splat(0.0f);
      if (j + 4 <= count) {
        weights = Exp(wasm_f32x4_sub(wasm_v128_load(scores + j), Splat(maximum)));
      } else if (j < count) {
        for (i = j; i < count; ++i) scores[i] = gpt2::Exp(scores[i] - maximum);
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

// mixed = mixed * shrink + one block's weights times its values, for kVectors vectors of four
// dimensions; the values are read in the order in which they lie.
template <typename Dot, int kVectors>
void MixValues(const std::int8_t* values, std::size_t padded, const v128_t* inputs, v128_t shrink,
               v128_t weight_scale, float* mixed) {
  typename Dot::Sum sum[kVectors];
  for (std::size_t quad = 0; quad < kKvBlock / 4; ++quad) {
    for (int v = 0; v < kVectors; ++v) {
      Dot::AddNonNegative(sum[v], values + quad * padded * 4 + v * 16, inputs[quad]);
    }
  }
  for (int v = 0; v < kVectors; ++v) {
    const v128_t block =
        wasm_f32x4_mul(wasm_f32x4_convert_i32x4(Dot::Finish(sum[v])), weight_scale);
    const v128_t before = wasm_f32x4_mul(wasm_v128_load(mixed + v * 4), shrink);
    wasm_v128_store(mixed + v * 4, wasm_f32x4_add(before, block));
  }
}

template <typename Dot>
void AttendQ8(const float* q, const KvHeadQ8& kv, std::size_t dim, std::size_t positions,
              float* out) {
  alignas(16) std::int8_t q_codes[kMaxHeadDim + 16];
  alignas(16) float mixed[kMaxHeadDim];
  alignas(16) float weights[kKvBlock];
  alignas(16) std::int8_t weight_codes[kKvBlock];
  const std::size_t padded = kv.padded_dim;
  const v128_t q_scale =
      Splat(QuantizeValues(q, dim, q_codes) / std::sqrt(static_cast<float>(dim)));
  OnlineSoftmax softmax;
  std::fill(mixed, mixed + padded, 0.0f);
  for (std::size_t start = 0; start < positions; start += kKvBlock) {
    const std::size_t count = std::min(kKvBlock, positions - start);
    const std::int8_t* keys = kv.keys + start * padded;
    for (std::size_t j = 0; j < count; j += 4, keys += 4 * padded) {
      typename Dot::Sum sum;
      for (std::size_t d = 0; d < padded; d += 4) {
        Dot::Add(sum, Dot::LoadWeights(keys + d * 4), Dot::LoadInput(q_codes + d));
      }
      const v128_t scale = wasm_f32x4_mul(q_scale, wasm_v128_load(kv.key_scales + start + j));
      wasm_v128_store(weights + j,
                      wasm_f32x4_mul(wasm_f32x4_convert_i32x4(Dot::Finish(sum)), scale));
    }
    const v128_t shrink = Splat(softmax.Absorb(weights, count));
    for (std::size_t j = 0; j < count; j += 4) {
      const v128_t scale = wasm_v128_load(kv.value_scales + start + j);
      wasm_v128_store(weights + j, wasm_f32x4_mul(wasm_v128_load(weights + j), scale));
    }
    const v128_t weight_scale = Splat(QuantizeValues(weights, kKvBlock, weight_codes));
    const std::int8_t* values = kv.values + start * padded;
    v128_t inputs[kKvBlock / 4];
    for (std::size_t quad = 0; quad < kKvBlock / 4; ++quad) {
      inputs[quad] = Dot::LoadInput(weight_codes + quad * 4);
    }
    std::size_t d = 0;
    for (; d + 4 * Dot::kValueVectors <= padded; d += 4 * Dot::kValueVectors) {
      MixValues<Dot, Dot::kValueVectors>(values + d * 4, padded, inputs, shrink, weight_scale,
                                         mixed + d);
    }
    for (; d < padded; d += 4) {
      MixValues<Dot, 1>(values + d * 4, padded, inputs, shrink, weight_scale, mixed + d);
    }
  }
  WriteMixed(mixed, softmax.sum, dim, out);
}

}  // namespace gpt2::simd
