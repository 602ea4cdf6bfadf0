#include "engine/format/number_text.h"

#include <cmath>
#include <cstdint>
#include <string>

namespace gpt2 {

std::string NumberText(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (std::fabs(value) < 0x1p53 && value == std::trunc(value)) {
    return std::to_string(static_cast<std::int64_t>(value));
  }
  return ShortestDigits(value);
}

}  // namespace gpt2
