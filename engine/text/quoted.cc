#include "engine/text/quoted.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "engine/text/utf8.h"

namespace gpt2 {

std::string Quoted(std::string_view text) {
  constexpr std::size_t kMost = 80;  // bytes
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string quoted = "\"";
  std::string_view rest = text;
  while (!rest.empty() && text.size() - rest.size() < kMost) {
    const Utf8Character character = ReadUtf8(rest);
    const auto byte = static_cast<unsigned char>(rest[0]);
    if (character.code_point == kInvalidCodePoint) {
      quoted += kReplacementCharacter;
    } else if (byte < 0x20 || byte == 0x7f) {
      quoted += "\\u00";
      quoted += {kHex[byte >> 4], kHex[byte & 15]};
    } else {
      if (byte == '"' || byte == '\\') quoted += '\\';
      quoted += rest.substr(0, character.size);
    }
    rest.remove_prefix(character.size);
  }
  quoted += '"';
  if (!rest.empty()) quoted += "... (" + std::to_string(text.size()) + " bytes)";
  return quoted;
}

}  // namespace gpt2
