#include "engine/generate/not_finite.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "engine/base/concat.h"
#include "engine/model/hooks.h"

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

std::string TensorBefore(Place place, std::size_t layer) {
  const auto of_block = [layer](const char* name) { return Concat("h.", layer, ".", name); };
  if (place == Place::kEmbed) return "wte.weight";
  if (place == Place::kPosEmbed || (place == Place::kResidPre && layer == 0)) return "wpe.weight";
  if (place == Place::kNormed) return "ln_f.weight";
  // In the order of a pass: the first tensor whose result comes at `place` or after it.
  if (place <= Place::kNormed1) return of_block("ln_1.weight");
  if (place <= Place::kZ) return of_block("attn.c_attn.weight");
  if (place <= Place::kResidMid) return of_block("attn.c_proj.weight");
  if (place <= Place::kNormed2) return of_block("ln_2.weight");
  if (place <= Place::kMlpPost) return of_block("mlp.c_fc.weight");
  return of_block("mlp.c_proj.weight");
}

}  // namespace gpt2
