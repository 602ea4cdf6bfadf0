#include "engine/model/kv_cache.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "engine/kernels/kernels.h"

namespace gpt2 {
namespace {

// Quantizes x [n] with one scale, which it returns. n <= kMaxHeadDim.
float QuantizeHead(const float* x, std::size_t n, std::int8_t* codes) {
  float peak = 0.0f;
  for (std::size_t i = 0; i < n; ++i) peak = std::max(peak, std::fabs(x[i]));
  constexpr float kSmallestPeak = 1e-30f;  // as in the kernels: 127 / peak stays finite
  if (!(peak >= kSmallestPeak)) {
    std::fill(codes, codes + n, std::int8_t{0});
    return 0.0f;
  }
  const float inverse = 127.0f / peak;
  for (std::size_t i = 0; i < n; ++i) {
    // Adding and subtracting 1.5 * 2^23 rounds half to even, and vectorizes everywhere.
    constexpr float kRound = 12582912.0f;
    const float rounded = (x[i] * inverse + kRound) - kRound;
    codes[i] = static_cast<std::int8_t>(std::clamp(rounded, -127.0f, 127.0f));
  }
  return peak / 127.0f;
}

}  // namespace

Result<KvCache> KvCache::Create(const Config& config, KvFormat format) {
  KvCache cache;
  cache.format_ = format;
  cache.n_layer_ = config.n_layer;
  cache.n_head_ = config.n_head;
  cache.head_dim_ = config.head_dim();
  cache.padded_dim_ = RoundUp(config.head_dim(), 4);
  cache.capacity_ = RoundUp(config.n_positions, kKvBlock);
  const std::size_t scales = config.n_layer * config.n_head * 2 * cache.capacity_;
  const std::size_t values = scales * cache.padded_dim_;
  constexpr const char* kName = "the KV cache";
  if (format == KvFormat::kF32) {
    GPT2_ASSIGN(cache.floats_, AlignedBuffer<float>::Create(values, kName));
  } else {
    GPT2_ASSIGN(cache.codes_, AlignedBuffer<std::int8_t>::Create(values, kName));
    GPT2_ASSIGN(cache.scales_, AlignedBuffer<float>::Create(scales, kName));
  }
  return cache;
}

std::size_t KvCache::bytes() const {
  return floats_.bytes() + codes_.bytes() + scales_.bytes();
}

KvHeadF32 KvCache::HeadF32(std::size_t layer, std::size_t head) {
  const std::size_t size = capacity_ * padded_dim_;
  float* keys = floats_.data() + (layer * n_head_ + head) * 2 * size;
  return {keys, keys + size, padded_dim_};
}

KvHeadQ8 KvCache::HeadQ8(std::size_t layer, std::size_t head) {
  const std::size_t size = capacity_ * padded_dim_;
  const std::size_t index = (layer * n_head_ + head) * 2;
  std::int8_t* keys = codes_.data() + index * size;
  float* key_scales = scales_.data() + index * capacity_;
  return {keys, keys + size, key_scales, key_scales + capacity_, padded_dim_};
}

void KvCache::Store(std::size_t layer, std::size_t head, std::size_t position, const float* key,
                    const float* value) {
  assert(position < capacity_);
  if (format_ == KvFormat::kF32) {
    const KvHeadF32 kv = HeadF32(layer, head);
    std::copy(key, key + head_dim_, kv.keys + position * padded_dim_);
    std::copy(value, value + head_dim_, kv.values + position * padded_dim_);
    return;
  }
  const KvHeadQ8 kv = HeadQ8(layer, head);
  std::array<std::int8_t, kMaxHeadDim> codes;
  const std::size_t quad = position / 4 * 4 * padded_dim_;  // where this position's four begin
  const std::size_t lane = position % 4;
  kv.key_scales[position] = QuantizeHead(key, head_dim_, codes.data());
  for (std::size_t d = 0; d < head_dim_; ++d) {
    kv.keys[quad + d / 4 * 16 + lane * 4 + d % 4] = codes[d];
  }
  kv.value_scales[position] = QuantizeHead(value, head_dim_, codes.data());
  for (std::size_t d = 0; d < head_dim_; ++d) kv.values[quad + d * 4 + lane] = codes[d];
}

}  // namespace gpt2
