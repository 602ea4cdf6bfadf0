#include "engine/model/kv_cache.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/base/aligned_buffer.h"
#include "engine/base/result.h"
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

float KvCache::Key(std::size_t layer, std::size_t head, std::size_t position,
                   std::size_t dimension) {
  if (format_ == KvFormat::kF32) {
    return HeadF32(layer, head).keys[position * padded_dim_ + dimension];
  }
  const KvHeadQ8 kv = HeadQ8(layer, head);
  const std::size_t code = kv.VectorIndex(position, dimension) + position % 4 * 4 + dimension % 4;
  return kv.key_scales[position] * static_cast<float>(kv.keys[code]);
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
