// The plain twin of every kernel: slow and obvious, and bit-identical to the fast ones.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>

#include "engine/base/mat_view.h"
#include "engine/kernels/kernels.h"
#include "engine/kernels/layout.h"
#include "engine/kernels/scalar_math.h"

namespace gpt2 {
namespace {

// How far n values extend above zero, or below it; NaN if one value of that sign is NaN. Compares
// as integers, in which NaN is the largest.
float Reach(const float* x, std::size_t n, bool below) {
  std::int32_t largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    largest = std::max(largest, std::bit_cast<std::int32_t>(below ? -x[i] : x[i]));
  }
  return std::bit_cast<float>(largest);
}

// Round-half-even to an integer; NaN becomes 0, as in wasm's saturating conversion.
std::int32_t Round(float scaled) {
  const float rounded = std::nearbyint(scaled);
  return std::isnan(rounded) ? 0 : static_cast<std::int32_t>(std::clamp(rounded, -255.0f, 255.0f));
}

struct GroupCodes {
  float scale;  // not finite if one of the values is not, so that results are not finite either
  std::int32_t zero;
};

// Quantizes n values with one scale: value = scale * (code - zero).
GroupCodes QuantizeValues(const float* x, std::size_t n, ActivationCodes kind, std::int8_t* codes) {
  const float above = Reach(x, n, /*below=*/false);
  const float below = Reach(x, n, /*below=*/true);
  const bool is_signed = kind == ActivationCodes::kSigned;
  const float range = !is_signed          ? above + below
                      : std::isnan(below) ? below
                      : std::isnan(above) ? above
                                          : std::max(above, below);
  const bool is_zero = range < kSmallestAbsmax;
  const float inverse = is_zero ? 0.0f : kLargestCode / range;
  const std::int32_t zero = is_signed ? 0 : std::min(Round(below * inverse), 127);
  for (std::size_t i = 0; i < n; ++i) {
    const std::int32_t code = Round(x[i] * inverse) + zero;
    codes[i] = static_cast<std::int8_t>(std::clamp(code, is_signed ? -127 : 0, 127));
  }
  return {is_zero ? 0.0f : range / kLargestCode, zero};
}

struct Lanes {
  float lane[4] = {0, 0, 0, 0};
  void Add(std::size_t i, float value) { lane[i % 4] += value; }
  float Sum() const { return (lane[0] + lane[1]) + (lane[2] + lane[3]); }
};

// The online softmax of attention, block by block.
struct OnlineSoftmax {
  float maximum = -INFINITY;
  float sum = 0.0f;

  // Turns `count` scores into weights exp(score - maximum), with zeros after them. Returns the
  // factor that all earlier sums must be multiplied by.
  float Absorb(float* scores, std::size_t count) {
    const float before = maximum;
    for (std::size_t j = 0; j < count; ++j) maximum = std::max(maximum, scores[j]);
    // Infinite scores need the first case, because their difference is NaN; for finite ones exp(0)
    // is 1 anyway.
    const float shrink = before == maximum     ? 1.0f
                         : before == -INFINITY ? 0.0f
                                               : Exp(before - maximum);
    Lanes lanes;
    for (std::size_t j = 0; j < kKvBlock; ++j) {
      // Exp saturates. The difference, which is NaN if the score is not finite, makes that visible.
      scores[j] = j < count ? Exp(scores[j] - maximum) + (scores[j] - scores[j]) : 0.0f;
      lanes.Add(j, scores[j]);
    }
    sum = sum * shrink + lanes.Sum();
    return shrink;
  }
};

// The code of input k of a group, in row `lane` of its tile.
std::int32_t CodeAt(const Q8Block& block, std::size_t lane, std::size_t k) {
  return block.codes[(k / kStepInputs * kTileRows + lane) * kStepInputs + k % kStepInputs];
}

std::int32_t CodeAt(const Q4Block& block, std::size_t lane, std::size_t k) {
  const std::size_t pair = k / (2 * kStepInputs);
  const int both = block.codes[(pair * kTileRows + lane) * kStepInputs + k % kStepInputs];
  return (k / kStepInputs % 2 == 0 ? both & 15 : both >> 4) - kQ4Zero;
}

// The value to subtract from the codes of activations.
template <typename Weights>
constexpr bool kIsFromZero = std::is_same_v<Weights, TiledQ8>;

// `Weights` is TiledQ8 or TiledQ4.
template <typename Weights>
void MatmulQuantized(const Weights& w, const QuantizedActivations& x, TileRange tiles,
                     MatView<float> y) {
  for (std::size_t row = tiles.first * kTileRows; row < tiles.last * kTileRows; ++row) {
    const std::size_t lane = row % kTileRows;
    for (std::size_t t = 0; t < x.tokens; ++t) {
      float total = 0.0f;
      for (std::size_t g = 0; g < w.groups; ++g) {
        const auto& block = w.blocks[row / kTileRows * w.groups + g];
        const std::size_t place = x.Place(t, g, x.groups);
        const std::int8_t* input = x.codes + place * kGroup;
        const std::int32_t zero = kIsFromZero<Weights> ? x.offsets[place] : 0;
        std::int32_t sum = 0;
        for (std::size_t k = 0; k < kGroup; ++k) sum += CodeAt(block, lane, k) * (input[k] - zero);
        const float w_scale = WidenBFloat16(block.scales[lane]);
        total += static_cast<float>(sum) * (w_scale * x.scales[place]);
      }
      y.data[t * y.stride + row] = total + w.bias[row];
    }
  }
}

}  // namespace

void QuantizeActivations_Reference(const float* x, std::size_t cols, ActivationCodes kind,
                                   std::int8_t* codes, float* scales, std::int32_t* offsets) {
  for (std::size_t start = 0; start < cols; start += kGroup) {
    const std::size_t count = std::min(kGroup, cols - start);
    const GroupCodes group = QuantizeValues(x + start, count, kind, codes);
    std::fill(codes + count, codes + kGroup, static_cast<std::int8_t>(group.zero));
    *scales = group.scale;
    *offsets = kind == ActivationCodes::kSigned
                   ? -kQ4Zero * std::accumulate(codes, codes + kGroup, std::int32_t{0})
                   : group.zero;
    codes += kTokenBlock * kGroup;
    scales += kTokenBlock;
    offsets += kTokenBlock;
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

void Relu_Reference(float* x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) x[i] = x[i] < 0.0f ? 0.0f : x[i];
}

void Swish_Reference(float* x, float beta, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) x[i] = x[i] / (1.0f + Exp(-(beta * x[i])));
}

void AddTo_Reference(float* x, const float* delta, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) x[i] += delta[i];
}

void ScoresF32(const float* q, const KvHeadF32& kv, std::size_t dim, std::size_t first,
               std::size_t count, float* scores) {
  const float scale = 1.0f / std::sqrt(static_cast<float>(dim));
  for (std::size_t j = 0; j < count; ++j) {
    Lanes score;
    const float* key = kv.keys + (first + j) * kv.padded_dim;
    for (std::size_t d = 0; d < dim; ++d) score.Add(d, q[d] * key[d]);
    scores[j] = score.Sum() * scale;
  }
}

void ScoresQ8(const float* q, const KvHeadQ8& kv, std::size_t dim, std::size_t first,
              std::size_t count, float* scores) {
  std::array<std::int8_t, kMaxHeadDim> q_codes{};
  const float q_scale = QuantizeValues(q, dim, ActivationCodes::kSigned, q_codes.data()).scale /
                        std::sqrt(static_cast<float>(dim));
  for (std::size_t j = 0; j < count; ++j) {
    const std::size_t position = first + j;
    std::int32_t sum = 0;
    for (std::size_t d = 0; d < dim; ++d) {
      sum += q_codes[d] * kv.keys[kv.VectorIndex(position, d) + position % 4 * 4 + d % 4];
    }
    scores[j] = static_cast<float>(sum) * (q_scale * kv.key_scales[position]);
  }
}

void AttendF32_Reference(const float* q, const KvHeadF32& kv, std::size_t dim,
                         std::size_t positions, float* out) {
  OnlineSoftmax softmax;
  std::fill(out, out + dim, 0.0f);
  for (std::size_t start = 0; start < positions; start += kKvBlock) {
    const std::size_t count = std::min(kKvBlock, positions - start);
    std::array<float, kKvBlock> weights;
    ScoresF32(q, kv, dim, start, count, weights.data());
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
  kv.key_scales[position] = QuantizeValues(key, dim, ActivationCodes::kSigned, codes.data()).scale;
  for (std::size_t d = 0; d < dim; ++d) {
    kv.keys[kv.VectorIndex(position, d) + position % 4 * 4 + d % 4] = codes[d];
  }
  kv.value_scales[position] =
      QuantizeValues(value, dim, ActivationCodes::kSigned, codes.data()).scale;
  for (std::size_t d = 0; d < dim; ++d) {
    kv.values[kv.VectorIndex(position, d) + d % 4 * 4 + position % 4] = codes[d];
  }
}

void AttendQ8_Reference(const float* q, const KvHeadQ8& kv, std::size_t dim, std::size_t positions,
                        float* out) {
  OnlineSoftmax softmax;
  std::fill(out, out + dim, 0.0f);
  for (std::size_t start = 0; start < positions; start += kKvBlock) {
    const std::size_t count = std::min(kKvBlock, positions - start);
    std::array<float, kKvBlock> weights;
    ScoresQ8(q, kv, dim, start, count, weights.data());
    const float shrink = softmax.Absorb(weights.data(), count);
    for (std::size_t j = 0; j < count; ++j) weights[j] *= kv.value_scales[start + j];
    std::array<std::int8_t, kKvBlock> codes{};
    const float weight_scale =
        QuantizeValues(weights.data(), kKvBlock, ActivationCodes::kSigned, codes.data()).scale;
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
