// The formats in which the engine computes with weights, and their properties.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/kernels/layout.h"

namespace gpt2 {

enum class WeightFormat : std::uint8_t { kF32, kQ8, kQ4 };

struct WeightFormatInfo {
  WeightFormat format;  // MatmulThen (forward.cc) has a kernel for it
  std::string_view name;
  std::size_t bits;             // of a weight, without its share of a scale
  std::size_t group;            // inputs that share a scale; 0: there are no scales
  std::string_view file_type;   // the safetensors type of the weights or their codes in a file
  bool has_whole_groups;        // in a file: rows are padded to whole groups
  bool has_negative_scales;     // whether they are allowed
  ActivationCodes activations;  // the coding of activations for these weights; unused for kF32

  bool has_codes() const { return group != 0; }
  std::size_t GroupBytes() const { return group * bits / 8; }
};

// By WeightFormat.
inline constexpr WeightFormatInfo kWeightFormats[] = {
    {WeightFormat::kF32, "f32", 32, 0, "F32", false, false, ActivationCodes::kSigned},
    {WeightFormat::kQ8, "q8", 8, kGroup, "I8", false, false, ActivationCodes::kFromZero},
    {WeightFormat::kQ4, "q4", 4, kGroup, "U8", true, true, ActivationCodes::kSigned},
};

constexpr const WeightFormatInfo& InfoOf(WeightFormat format) {
  return kWeightFormats[static_cast<std::size_t>(format)];
}

constexpr std::string_view WeightFormatName(WeightFormat format) {
  return InfoOf(format).name;
}

}  // namespace gpt2
