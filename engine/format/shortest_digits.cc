// Natively; wasm_libc.cc has the one for WebAssembly.
#include <nlohmann/json.hpp>
#include <string>

#include "engine/format/number_text.h"

namespace gpt2 {

std::string ShortestDigits(double value) {
  char digits[64];
  return {digits, nlohmann::detail::to_chars(digits, digits + sizeof digits, value)};
}

}  // namespace gpt2
