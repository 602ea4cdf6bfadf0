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
  const std::string block = Concat("h.", layer, ".");
  switch (place) {
    case Place::kEmbed:
      return "wte.weight";
    case Place::kPosEmbed:
      return "wpe.weight";
    case Place::kNormed1:
      return block + "ln_1.weight";
    case Place::kQ:
    case Place::kK:
    case Place::kV:
    case Place::kScores:
    case Place::kPattern:
    case Place::kZ:
      return block + "attn.c_attn.weight";
    case Place::kAttnOut:
    case Place::kResidPre:
    case Place::kResidMid:
      return block + "attn.c_proj.weight";
    case Place::kNormed2:
      return block + "ln_2.weight";
    case Place::kMlpPre:
    case Place::kMlpPost:
      return block + "mlp.c_fc.weight";
    case Place::kMlpOut:
    case Place::kResidPost:
      return block + "mlp.c_proj.weight";
    case Place::kNormed:
      return "ln_f.weight";
    case Place::kLogits:
      break;
  }
  return "lm_head.weight";
}

}  // namespace gpt2
