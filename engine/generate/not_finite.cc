#include "engine/generate/not_finite.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engine/model/forward.h"

namespace gpt2 {

// Compares as integers, which compilers vectorize, but not when inlined into the caller, which is
// built for size. Infinity and NaN have the largest exponent.
[[gnu::noinline]] bool AllFinite(std::span<const float> values) {
  constexpr std::int32_t kExponent = 0x7f800000;
  std::int32_t largest = 0;
  for (const float value : values) {
    largest = std::max(largest, std::bit_cast<std::int32_t>(value) & kExponent);
  }
  return largest != kExponent;
}

std::string TensorBefore(std::string_view stage) {
  using Ends = std::pair<std::string_view, std::string_view>;  // of a stage, and of its tensor
  static constexpr Ends kInputs[] = {
      {".attn.c_attn", ".ln_1.weight"},
      {".attn.c_proj", ".attn.c_attn.weight"},
      {".mlp.c_fc", ".ln_2.weight"},
      {".mlp.c_proj", ".mlp.c_fc.weight"},
  };
  static constexpr Ends kOutputs[] = {
      {".attn", ".attn.c_proj.weight"},
      {".mlp", ".mlp.c_proj.weight"},
      {"embed", "wte.weight"},
      {"ln_f", "ln_f.weight"},
  };
  const bool is_input = stage.ends_with(kInputStage);
  if (is_input) stage.remove_suffix(kInputStage.size());
  for (const auto& [end, tensor] : std::span<const Ends>(is_input ? kInputs : kOutputs)) {
    if (!stage.ends_with(end)) continue;
    return std::string(stage.substr(0, stage.size() - end.size())) + std::string(tensor);
  }
  return std::string(stage);
}

}  // namespace gpt2
