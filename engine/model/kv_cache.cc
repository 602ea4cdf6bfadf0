#include "engine/model/kv_cache.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "engine/base/aligned_buffer.h"
#include "engine/base/result.h"
#include "engine/kernels/kernels.h"
#include "engine/kernels/layout.h"
#include "engine/model/config.h"

namespace gpt2 {

std::string_view KvFormatName(KvFormat format) {
  return format == KvFormat::kQ8 ? "q8" : "f32";
}

std::optional<KvFormat> KvFormatNamed(std::string_view name) {
  for (const KvFormat format : {KvFormat::kF32, KvFormat::kQ8}) {
    if (name == KvFormatName(format)) return format;
  }
  return std::nullopt;
}

Result<KvCache> KvCache::Create(const Config& config, KvFormat format) {
  KvCache cache;
  cache.format_ = format;
  cache.n_layer_ = config.n_layer;
  cache.n_kv_head_ = config.n_kv_head();
  cache.padded_dim_ = RoundUp(config.head_dim(), 4);
  cache.capacity_ = RoundUp(config.n_positions, kKvBlock);
  const std::size_t scales = config.n_layer * config.n_kv_head() * 2 * cache.capacity_;
  const std::size_t values = scales * cache.padded_dim_;
  constexpr const char* kName = "the KV cache";
  // Not zeroed: a position is written before it is read, so the cache takes memory only as far as
  // it is filled. In 8 bits whole blocks are read, but values after their last position count zero
  // times.
  if (format == KvFormat::kF32) {
    GPT2_ASSIGN(cache.floats_, AlignedBuffer<float>::CreateUnset(values, kName));
  } else {
    GPT2_ASSIGN(cache.codes_, AlignedBuffer<std::int8_t>::CreateUnset(values, kName));
    GPT2_ASSIGN(cache.scales_, AlignedBuffer<float>::CreateUnset(scales, kName));
  }
  return cache;
}

std::size_t KvCache::bytes() const {
  return floats_.bytes() + codes_.bytes() + scales_.bytes();
}

KvHeadF32 KvCache::HeadF32(std::size_t layer, std::size_t head) {
  const std::size_t size = capacity_ * padded_dim_;
  float* keys = floats_.data() + (layer * n_kv_head_ + head) * 2 * size;
  return {keys, keys + size, padded_dim_};
}

KvHeadQ8 KvCache::HeadQ8(std::size_t layer, std::size_t head) {
  const std::size_t size = capacity_ * padded_dim_;
  const std::size_t index = (layer * n_kv_head_ + head) * 2;
  std::int8_t* keys = codes_.data() + index * size;
  float* key_scales = scales_.data() + index * capacity_;
  return {keys, keys + size, key_scales, key_scales + capacity_, padded_dim_};
}

void KvCache::Scores(std::size_t layer, std::size_t head, std::span<const float> query,
                     std::span<float> scores) {
  if (format_ == KvFormat::kF32) {
    ScoresF32(query.data(), HeadF32(layer, head), query.size(), 0, scores.size(), scores.data());
  } else {
    ScoresQ8(query.data(), HeadQ8(layer, head), query.size(), 0, scores.size(), scores.data());
  }
}

void KvCache::AddUpValues(std::size_t layer, std::size_t head, std::span<const float> weights,
                          std::span<float> out) {
  const KvHeadF32 floats = format_ == KvFormat::kF32 ? HeadF32(layer, head) : KvHeadF32{};
  const KvHeadQ8 codes = format_ == KvFormat::kQ8 ? HeadQ8(layer, head) : KvHeadQ8{};
  for (std::size_t d = 0; d < out.size(); ++d) {
    out[d] = 0.0f;
    for (std::size_t position = 0; position < weights.size(); ++position) {
      const float value =
          format_ == KvFormat::kF32
              ? floats.values[position * padded_dim_ + d]
              : codes.value_scales[position] *
                    static_cast<float>(
                        codes.values[codes.VectorIndex(position, d) + d % 4 * 4 + position % 4]);
      out[d] += weights[position] * value;
    }
  }
}

void KvCache::CopyFrom(const KvCache& other, std::size_t positions) {
  const std::size_t used = RoundUp(positions, kKvBlock);  // blocks are interleaved: whole ones
  const std::size_t parts = n_layer_ * n_kv_head_ * 2;
  const auto copy = [&](const auto& from, auto& to, std::size_t width) {
    if (from.size() == 0) return;
    for (std::size_t part = 0; part < parts; ++part) {
      const auto* source = from.data() + part * capacity_ * width;
      std::copy(source, source + used * width, to.data() + part * capacity_ * width);
    }
  };
  copy(other.floats_, floats_, padded_dim_);
  copy(other.codes_, codes_, padded_dim_);
  copy(other.scales_, scales_, 1);
}

}  // namespace gpt2
