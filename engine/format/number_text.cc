#include "engine/format/number_text.h"

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace gpt2 {

std::string NumberText(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (std::fabs(value) < 0x1p53 && value == std::trunc(value)) {
    return std::to_string(static_cast<std::int64_t>(value));
  }
  char digits[64];
  return {digits, nlohmann::detail::to_chars(digits, digits + sizeof digits, value)};
}

}  // namespace gpt2
