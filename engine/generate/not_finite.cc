#include "engine/generate/not_finite.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

namespace gpt2 {

// As integers, which compilers turn into vectors: the largest exponent is that of infinity and NaN.
bool AllFinite(std::span<const float> values) {
  constexpr std::int32_t kExponent = 0x7f800000;
  std::int32_t largest = 0;
  for (const float value : values) {
    largest = std::max(largest, std::bit_cast<std::int32_t>(value) & kExponent);
  }
  return largest != kExponent;
}

std::string TensorBefore(std::string_view stage) {
  constexpr std::pair<std::string_view, std::string_view> kTensors[] = {
      {".attn.c_attn.input", ".ln_1.weight"},
      {".attn.c_proj.input", ".attn.c_attn.weight"},
      {".attn", ".attn.c_proj.weight"},
      {".mlp.c_fc.input", ".ln_2.weight"},
      {".mlp.c_proj.input", ".mlp.c_fc.weight"},
      {".mlp", ".mlp.c_proj.weight"},
      {"embed", "wte.weight"},
      {"ln_f", "ln_f.weight"},
  };
  for (const auto& [end, tensor] : kTensors) {
    if (!stage.ends_with(end)) continue;
    return std::string(stage.substr(0, stage.size() - end.size())) + std::string(tensor);
  }
  return std::string(stage);
}

}  // namespace gpt2
