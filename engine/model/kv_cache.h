// Keys and values of the tokens in a model's context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "engine/base/aligned_buffer.h"
#include "engine/base/result.h"
#include "engine/kernels/layout.h"
#include "engine/model/config.h"
#include "engine/model/matrix.h"

namespace gpt2 {

enum class KvFormat { kF32, kQ8 };
std::string_view KvFormatName(KvFormat format);                // "f32", "q8"
std::optional<KvFormat> KvFormatNamed(std::string_view name);  // nothing for any other name

// The default for weights of `format`: an 8-bit cache loses less than 8-bit weights.
inline KvFormat DefaultKvFormat(WeightFormat format) {
  return InfoOf(format).has_codes() ? KvFormat::kQ8 : KvFormat::kF32;
}

// The cache of one sequence, for every layer and head of keys (Config::n_kv_head). Different
// threads may write different heads at the same time, but not the same head. A position keeps its
// values until it is written again.
class KvCache {
 public:
  // Room for config.n_positions positions.
  static Result<KvCache> Create(const Config& config, KvFormat format);

  KvFormat format() const { return format_; }
  std::size_t bytes() const;

  // Copies the first `positions` positions of `other`, which has the same shape and format.
  void CopyFrom(const KvCache& other, std::size_t positions);

  // The scores of a query [head_dim] with the keys of the first scores.size() positions, with the
  // same bits as the attention kernels.
  void Scores(std::size_t layer, std::size_t head, std::span<const float> query,
              std::span<float> scores);
  // out [head_dim] = the sum of weights[position] * value, in order of position.
  void AddUpValues(std::size_t layer, std::size_t head, std::span<const float> weights,
                   std::span<float> out);

  // The keys and values of one head, for kF32 and for kQ8.
  KvHeadF32 HeadF32(std::size_t layer, std::size_t head);
  KvHeadQ8 HeadQ8(std::size_t layer, std::size_t head);

 private:
  KvFormat format_ = KvFormat::kF32;
  std::size_t n_layer_ = 0;
  std::size_t n_kv_head_ = 0;
  std::size_t padded_dim_ = 0;  // head_dim rounded up to 4
  std::size_t capacity_ = 0;    // positions, whole blocks
  AlignedBuffer<float>
      floats_;  // kF32: [n_layer, n_kv_head, keys and values, capacity, padded_dim]
  AlignedBuffer<std::int8_t> codes_;  // kQ8: the same shape, in the blocks of KvHeadQ8
  AlignedBuffer<float> scales_;       // kQ8: [n_layer, n_kv_head, keys and values, capacity]
};

}  // namespace gpt2
