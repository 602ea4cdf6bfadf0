#include "engine/languages/characters.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "engine/text/utf8.h"

namespace gpt2 {

std::u32string Characters(std::string_view text) {
  std::u32string characters;
  characters.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character character = ReadUtf8(text);
    if (character.code_point != kInvalidCodePoint) characters += character.code_point;
    for (std::size_t i = 0; i < character.size && character.code_point == kInvalidCodePoint; ++i) {
      characters += static_cast<char32_t>(kFirstByte + static_cast<unsigned char>(text[i]));
    }
    text.remove_prefix(character.size);
  }
  return characters;
}

void AppendCharacter(char32_t character, std::string& out) {
  const auto byte = [&out](char32_t value) { out += static_cast<char>(value); };
  if (character >= kFirstByte) return byte(character - kFirstByte);
  if (character < 0x80) return byte(character);
  if (character < 0x800) {
    byte(0xc0 | character >> 6);
  } else if (character < 0x10000) {
    byte(0xe0 | character >> 12);
    byte(0x80 | (character >> 6 & 0x3f));
  } else {
    byte(0xf0 | character >> 18);
    byte(0x80 | (character >> 12 & 0x3f));
    byte(0x80 | (character >> 6 & 0x3f));
  }
  byte(0x80 | (character & 0x3f));
}

std::string BytesOf(std::u32string_view characters) {
  std::string bytes;
  bytes.reserve(characters.size());
  for (const char32_t character : characters) AppendCharacter(character, bytes);
  return bytes;
}

}  // namespace gpt2
