// The plain twin of every kernel: slow, obvious, and bit for bit what the fast ones compute.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "engine/base/mat_view.h"
#include "engine/kernels/kernels.h"
#include "engine/kernels/layout.h"
#include "engine/kernels/scalar_math.h"

namespace gpt2 {
namespace {

// The largest absolute value, NaN if there is one: as integers, where it is larger than all else.
float Absmax(const float* x, std::size_t n) {
  std::int32_t absmax = 0;
  for (std::size_t i = 0; i < n; ++i) {
    absmax = std::max(absmax, std::bit_cast<std::int32_t>(std::fabs(x[i])));
  }
  return std::bit_cast<float>(absmax);
}

// Round-half-even to a code; NaN becomes 0, as in wasm's saturating conversion.
std::int8_t ToCode(float scaled) {
  const float rounded = std::nearbyint(scaled);
  if (!(rounded >= -kLargestCode)) return rounded < 0 ? -127 : 0;
  return static_cast<std::int8_t>(std::min(rounded, kLargestCode));
}

// Quantizes n values with one scale, which it returns; it is not finite if one of them is not, so
// that whatever is computed from them is not either.
float QuantizeValues(const float* x, std::size_t n, std::int8_t* codes) {
  const float absmax = Absmax(x, n);
  const bool is_zero = absmax < kSmallestAbsmax;
  const float inverse = is_zero ? 0.0f : kLargestCode / absmax;
  for (std::size_t i = 0; i < n; ++i) codes[i] = ToCode(x[i] * inverse);
  return is_zero ? 0.0f : absmax / kLargestCode;
}

struct Lanes {
  float lane[4] = {0, 0, 0, 0};
  void Add(std::size_t i, float value) { lane[i % 4] += value; }
  float Sum() const { return (lane[0] + lane[1]) + (lane[2] + lane[3]); }
};

// The running softmax of attention, block by block.
struct OnlineSoftmax {
  float maximum = -INFINITY;
  float sum = 0.0f;

  // Turns `count` scores into weights exp(score - maximum), zero beyond, and returns the factor by
  // which everything that was accumulated before must shrink.
  float Absorb(float* scores, std::size_t count) {
    const float before = maximum;
    for (std::size_t j = 0; j < count; ++j) maximum = std::max(maximum, scores[j]);
    // Infinite scores need the first case, as their difference is NaN; for finite ones exp(0) is 1
    // anyway.
    const float shrink = before == maximum     ? 1.0f
                         : before == -INFINITY ? 0.0f
                                               : Exp(before - maximum);
    Lanes lanes;
    for (std::size_t j = 0; j < kKvBlock; ++j) {
      // Exp saturates; the difference, NaN if the score is not finite, lets that show.
      scores[j] = j < count ? Exp(scores[j] - maximum) + (scores[j] - scores[j]) : 0.0f;
      lanes.Add(j, scores[j]);
    }
    sum = sum * shrink + lanes.Sum();
    return shrink;
  }
};

// The code of input k of a group, in row `lane` of a tile; `group` counts those of all tiles.
std::int32_t CodeAt(const TiledQ8& w, std::size_t group, std::size_t lane, std::size_t k) {
  const std::size_t step = group * kGroupSteps + k / kStepInputs;
  return w.codes[(step * kTileRows + lane) * kStepInputs + k % kStepInputs];
}

std::int32_t CodeAt(const TiledQ4& w, std::size_t group, std::size_t lane, std::size_t k) {
  const std::size_t pair = group * kGroupSteps / 2 + k / (2 * kStepInputs);
  const int both = w.codes[(pair * kTileRows + lane) * kStepInputs + k % kStepInputs];
  return (k / kStepInputs % 2 == 0 ? both & 15 : both >> 4) - kQ4Zero;
}

// `Weights` is TiledQ8 or TiledQ4.
template <typename Weights>
void MatmulQuantized(const Weights& w, const QuantizedActivations& x, TileRange tiles,
                     MatView<float> y) {
  for (std::size_t row = tiles.first * kTileRows; row < tiles.last * kTileRows; ++row) {
    const std::size_t lane = row % kTileRows;
    for (std::size_t t = 0; t < x.tokens; ++t) {
      float total = 0.0f;
      for (std::size_t g = 0; g < w.groups; ++g) {
        const std::size_t group = row / kTileRows * w.groups + g;
        const std::int8_t* input = x.codes + (t * w.groups + g) * kGroup;
        std::int32_t sum = 0;
        for (std::size_t k = 0; k < kGroup; ++k) sum += CodeAt(w, group, lane, k) * input[k];
        const float w_scale = WidenBFloat16(w.scales[group * kTileRows + lane]);
        total += static_cast<float>(sum) * (w_scale * x.scales[t * x.groups + g]);
      }
      y.data[t * y.stride + row] = total + w.bias[row];
    }
  }
}

}  // namespace

void QuantizeActivations_Reference(const float* x, std::size_t cols, std::int8_t* codes,
                                   float* scales, CodeSums* sums) {
  for (std::size_t start = 0; start < cols; start += kGroup) {
    const std::size_t count = std::min(kGroup, cols - start);
    scales[start / kGroup] = QuantizeValues(x + start, count, codes + start);
    std::fill(codes + start + count, codes + start + kGroup, std::int8_t{0});
    CodeSums group{0, 0};
    for (std::size_t i = start; i < start + count; ++i) {
      group.all += codes[i];
      group.negative += std::max(0, -codes[i]);
    }
    sums[start / kGroup] = group;
  }
}

void MatmulF32_Reference(const TiledF32& w, MatView<const float> x, TileRange tiles,
                         MatView<float> y) {
  for (std::size_t row = tiles.first * kTileRows; row < tiles.last * kTileRows; ++row) {
    const float* tile = w.values + row / kTileRows * w.cols * kTileRows;
    for (std::size_t t = 0; t < x.rows; ++t) {
      float sum = 0.0f;
      for (std::size_t k = 0; k < w.cols; ++k) {
        sum += tile[k * kTileRows + row % kTileRows] * x.data[t * x.stride + k];
      }
      y.data[t * y.stride + row] = sum + w.bias[row];
    }
  }
}

void MatmulQ8_Reference(const TiledQ8& w, const QuantizedActivations& x, TileRange tiles,
                        MatView<float> y) {
  MatmulQuantized(w, x, tiles, y);
}

void MatmulQ4_Reference(const TiledQ4& w, const QuantizedActivations& x, TileRange tiles,
                        MatView<float> y) {
  MatmulQuantized(w, x, tiles, y);
}

void LayerNorm_Reference(const float* x, const float* gain, const float* bias, float epsilon,
                         std::size_t n, float* y) {
  Lanes sum;
  for (std::size_t i = 0; i < n; ++i) sum.Add(i, x[i]);
  const float mean = sum.Sum() / static_cast<float>(n);
  Lanes squares;
  for (std::size_t i = 0; i < n; ++i) squares.Add(i, (x[i] - mean) * (x[i] - mean));
  const float variance = squares.Sum() / static_cast<float>(n);
  const float inverse = 1.0f / std::sqrt(variance + epsilon);
  for (std::size_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * inverse * gain[i] + bias[i];
}

void GeluTanh_Reference(float* x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const float u = kTwoSqrt2OverPi * (x[i] + kGeluCubic * (x[i] * x[i] * x[i]));
    x[i] = x[i] / (1.0f + Exp(-u));
  }
}

void GeluErf_Reference(float* x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) x[i] = 0.5f * x[i] * (1.0f + Erf(x[i] * kSqrtHalf));
}

void AddTo_Reference(float* x, const float* delta, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) x[i] += delta[i];
}

void AttendF32_Reference(const float* q, const KvHeadF32& kv, std::size_t dim,
                         std::size_t positions, float* out) {
  const float scale = 1.0f / std::sqrt(static_cast<float>(dim));
  OnlineSoftmax softmax;
  std::fill(out, out + dim, 0.0f);
  for (std::size_t start = 0; start < positions; start += kKvBlock) {
    const std::size_t count = std::min(kKvBlock, positions - start);
    std::array<float, kKvBlock> weights;
    for (std::size_t j = 0; j < count; ++j) {
      Lanes score;
      const float* key = kv.keys + (start + j) * kv.padded_dim;
      for (std::size_t d = 0; d < dim; ++d) score.Add(d, q[d] * key[d]);
      weights[j] = score.Sum() * scale;
    }
    const float shrink = softmax.Absorb(weights.data(), count);
    for (std::size_t d = 0; d < dim; ++d) {
      float mixed = out[d] * shrink;
      for (std::size_t j = 0; j < count; ++j) {
        mixed += weights[j] * kv.values[(start + j) * kv.padded_dim + d];
      }
      out[d] = mixed;
    }
  }
  for (std::size_t d = 0; d < dim; ++d) out[d] = out[d] / softmax.sum;
}

void StoreQ8_Reference(const float* key, const float* value, std::size_t dim, std::size_t position,
                       const KvHeadQ8& kv) {
  std::array<std::int8_t, kMaxHeadDim> codes;
  kv.key_scales[position] = QuantizeValues(key, dim, codes.data());
  for (std::size_t d = 0; d < dim; ++d) {
    kv.keys[kv.VectorIndex(position, d) + position % 4 * 4 + d % 4] = codes[d];
  }
  kv.value_scales[position] = QuantizeValues(value, dim, codes.data());
  for (std::size_t d = 0; d < dim; ++d) {
    kv.values[kv.VectorIndex(position, d) + d % 4 * 4 + position % 4] = codes[d];
  }
}

void AttendQ8_Reference(const float* q, const KvHeadQ8& kv, std::size_t dim, std::size_t positions,
                        float* out) {
  std::array<std::int8_t, kMaxHeadDim> q_codes{};
  const float q_scale = QuantizeValues(q, dim, q_codes.data()) / std::sqrt(static_cast<float>(dim));
  OnlineSoftmax softmax;
  std::fill(out, out + dim, 0.0f);
  for (std::size_t start = 0; start < positions; start += kKvBlock) {
    const std::size_t count = std::min(kKvBlock, positions - start);
    std::array<float, kKvBlock> weights;
    for (std::size_t j = 0; j < count; ++j) {
      std::int32_t sum = 0;
      for (std::size_t d = 0; d < dim; ++d) {
        sum += q_codes[d] * kv.keys[kv.VectorIndex(start + j, d) + j % 4 * 4 + d % 4];
      }
      weights[j] = static_cast<float>(sum) * (q_scale * kv.key_scales[start + j]);
    }
    const float shrink = softmax.Absorb(weights.data(), count);
    for (std::size_t j = 0; j < count; ++j) weights[j] *= kv.value_scales[start + j];
    std::array<std::int8_t, kKvBlock> codes{};
    const float weight_scale = QuantizeValues(weights.data(), kKvBlock, codes.data());
    for (std::size_t d = 0; d < dim; ++d) {
      std::int32_t sum = 0;
      for (std::size_t j = 0; j < count; ++j) {
        sum += codes[j] * kv.values[kv.VectorIndex(start + j, d) + d % 4 * 4 + j % 4];
      }
      out[d] = out[d] * shrink + static_cast<float>(sum) * weight_scale;
    }
  }
  for (std::size_t d = 0; d < dim; ++d) out[d] = out[d] / softmax.sum;
}

SoftmaxSums SoftmaxStats_Reference(const float* x, std::size_t n) {
  const float maximum = *std::max_element(x, x + n);
  Lanes sum;
  for (std::size_t i = 0; i < n; ++i) sum.Add(i, Exp(x[i] - maximum));
  return {maximum, sum.Sum()};
}

}  // namespace gpt2
