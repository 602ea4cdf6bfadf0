// How a converted model stores each tensor (weights_tools/FORMAT.md): its type, byte order and
// header. It does not depend on where the values come from.
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
  DType dtype;             // the type of codes or floats; kBF16: scales, which follow the codes
  std::size_t rows;        // 1 for a vector
  std::size_t cols;
  const WeightFormatInfo* codes = nullptr;  // their format; null: there are none

  std::string Name() const;
  bool has_codes() const { return codes != nullptr; }

  std::size_t RowBytes() const { return cols * DTypeSize(dtype); }
  std::uint64_t Bytes() const { return std::uint64_t{rows} * RowBytes(); }
};

// How `spec` is stored in a model of `weights`. If it has codes, ScalesOf follows.
StoredTensor StoreTensor(const TensorSpec& spec, StoredWeights weights);
StoredTensor ScalesOf(const StoredTensor& codes);

// Appends the stored tensors of `spec`.
void StoreTensor(const TensorSpec& spec, StoredWeights weights, std::vector<StoredTensor>& out);

// The bytes of the file before those of `tensors`, which are in file order.
std::string StoredHeader(std::span<const StoredTensor> tensors, StoredWeights weights);

// Writes values that are not codes, [count], to `bytes` in the type of `tensor`. Fails, naming the
// tensor, on a value that the type cannot represent.
Status StoreFloats(const StoredTensor& tensor, std::span<const float> values, std::byte* bytes);

// Quantizes one group of a row, at most kGroup weights, to the codes and the scale of `tensor`,
// which is of codes. Writes the codes to `bytes`. Each group is quantized by itself: in 4 bits with
// the best scale of SearchQ4Scale. Fails, naming the tensor and `row`, if the scale is not finite.
Result<BFloat16> StoreGroup(const StoredTensor& tensor, std::size_t row,
                            std::span<const float> weights, std::byte* bytes);

// The error for a scale that is not finite.
Error ScaleNotFinite(const StoredTensor& tensor, std::size_t row);

// The value of quantization_config in a converted model's config.json. `other_heads` are heads of
// the original that the converted model lacks.
std::string QuantizationConfig(StoredWeights weights, std::span<const std::string> other_heads);

}  // namespace gpt2
