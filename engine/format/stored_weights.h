// The kinds of converted models (weights_tools/FORMAT.md), and the types of their tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/format/safetensors.h"
#include "engine/model/weight_format.h"
#include "engine/model/weights.h"

namespace gpt2 {

// The format of a converted model's matrices, as in quantization_config.
enum class StoredWeights : std::uint8_t { kF32, kF16, kQ8, kQ4 };

inline constexpr const char* kFormatVersion = "1";
inline constexpr const char* kQ4FormatVersion = "2";  // of files with 4-bit matrices

struct StoredWeightsInfo {
  StoredWeights weights;
  std::string_view name;
  DType floats;             // the type of matrices without codes, and of the positions
  WeightFormat blocks;      // the format of the blocks' matrices
  WeightFormat embeddings;  // of wte and lm_head: 4 bits there cost more quality than in all blocks
  const char* version;      // of the file

  bool has_codes() const { return InfoOf(blocks).has_codes(); }
};

// By StoredWeights.
inline constexpr StoredWeightsInfo kStoredWeights[] = {
    {StoredWeights::kF32, "f32", DType::kF32, WeightFormat::kF32, WeightFormat::kF32,
     kFormatVersion},
    {StoredWeights::kF16, "f16", DType::kF16, WeightFormat::kF32, WeightFormat::kF32,
     kFormatVersion},
    {StoredWeights::kQ8, "q8", DType::kF16, WeightFormat::kQ8, WeightFormat::kQ8, kFormatVersion},
    {StoredWeights::kQ4, "q4", DType::kF16, WeightFormat::kQ4, WeightFormat::kQ8, kQ4FormatVersion},
};
// All of them.
inline constexpr StoredWeights kConvertedWeights[] = {StoredWeights::kF32, StoredWeights::kF16,
                                                      StoredWeights::kQ8, StoredWeights::kQ4};

constexpr const StoredWeightsInfo& InfoOf(StoredWeights weights) {
  return kStoredWeights[static_cast<std::size_t>(weights)];
}

constexpr std::string_view StoredWeightsName(StoredWeights weights) {
  return InfoOf(weights).name;
}

// The format in memory of the matrix `spec` from a file of `weights`: floats if the matrix is too
// narrow for one group.
inline WeightFormat MatrixFormat(StoredWeights weights, const TensorSpec& spec) {
  const StoredWeightsInfo& info = InfoOf(weights);
  const WeightFormat format = spec.is_block_matrix() ? info.blocks : info.embeddings;
  return spec.cols < InfoOf(format).group ? WeightFormat::kF32 : format;
}

// The type of the tensor `spec` in a file of `weights`.
inline DType StoredDType(StoredWeights weights, const TensorSpec& spec) {
  if (spec.is_vector()) return DType::kF32;
  const WeightFormat format = spec.is_matrix() ? MatrixFormat(weights, spec) : WeightFormat::kF32;
  return InfoOf(format).has_codes() ? DTypeNamed(InfoOf(format).file_type) : InfoOf(weights).floats;
}

// The format whose codes a file stores as `dtype`; null if `dtype` holds no codes.
inline const WeightFormatInfo* FormatOfCodes(DType dtype) {
  for (const WeightFormatInfo& info : kWeightFormats) {
    if (info.has_codes() && DTypeNamed(info.file_type) == dtype) return &info;
  }
  return nullptr;
}

}  // namespace gpt2
