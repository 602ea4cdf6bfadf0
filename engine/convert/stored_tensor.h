// How a converted model holds each tensor (weights_tools/FORMAT.md): what type, in what order of
// bytes, behind what header. Where the values come from is not known here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/format/config_json.h"
#include "engine/format/safetensors.h"
#include "engine/format/stored_weights.h"
#include "engine/kernels/layout.h"
#include "engine/model/weights.h"

namespace gpt2 {

// One tensor of a converted model.safetensors.
struct StoredTensor {
  const TensorSpec* spec;  // borrowed
  DType dtype;             // of codes; kBF16: the scales that follow them; or floats
  std::size_t rows;        // 1 of a vector
  std::size_t cols;
  const WeightFormatInfo* codes = nullptr;  // their format; null: there are none

  std::string Name() const;
  bool has_codes() const { return codes != nullptr; }

  std::size_t RowBytes() const { return cols * DTypeSize(dtype); }
  std::uint64_t Bytes() const { return std::uint64_t{rows} * RowBytes(); }
};

// What `spec` becomes in a model of `weights`, which is not kHub; if it has codes, ScalesOf
// follows.
StoredTensor StoreTensor(const TensorSpec& spec, StoredWeights weights);
StoredTensor ScalesOf(const StoredTensor& codes);

// Appends what `spec` becomes.
void StoreTensor(const TensorSpec& spec, StoredWeights weights, std::vector<StoredTensor>& out);

// The bytes before those of `tensors`, which lie in this order.
std::string StoredHeader(std::span<const StoredTensor> tensors, StoredWeights weights);

// Writes values that are no codes, [count], as `tensor` holds them, to `bytes`. Fails, naming the
// tensor, on one that its type does not hold.
Status StoreFloats(const StoredTensor& tensor, std::span<const float> values, std::byte* bytes);

// Quantizes one group of a row, at most kGroup weights, to the codes and the scale of `tensor`,
// which is of codes. Writes the codes to `bytes`. Each group is quantized by itself: in 4 bits with
// the best scale of SearchQ4Scale. Fails, naming the tensor and `row`, if the scale is not finite.
Result<BFloat16> StoreGroup(const StoredTensor& tensor, std::size_t row,
                            std::span<const float> weights, std::byte* bytes);

// The error of a scale that no file may have.
Error ScaleNotFinite(const StoredTensor& tensor, std::size_t row);

// The value of quantization_config in a converted model's config.json. `other_heads` are those of
// the original (OtherHeads), which the model lacks.
std::string QuantizationConfig(StoredWeights weights, std::span<const std::string> other_heads);

}  // namespace gpt2
