#include "engine/text/byte_alphabet.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "engine/text/utf8.h"

namespace gpt2 {
namespace {

constexpr char32_t kFirstSubstitute = 256;

constexpr bool IsPrintable(unsigned byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

constexpr std::array<char32_t, 256> MakeAlphabet() {
  std::array<char32_t, 256> alphabet{};
  char32_t substitute = kFirstSubstitute;
  for (unsigned byte = 0; byte < 256; ++byte) {
    alphabet[byte] = IsPrintable(byte) ? byte : substitute++;
  }
  return alphabet;
}
constexpr std::array<char32_t, 256> kAlphabet = MakeAlphabet();

// code point -> byte, or -1
constexpr std::array<int, 512> MakeInverse() {
  std::array<int, 512> inverse{};
  inverse.fill(-1);
  for (int byte = 0; byte < 256; ++byte) inverse[kAlphabet[static_cast<std::size_t>(byte)]] = byte;
  return inverse;
}
constexpr std::array<int, 512> kInverse = MakeInverse();

}  // namespace

std::optional<std::string> BytesFromAlphabet(std::string_view spelled) {
  std::string bytes;
  while (!spelled.empty()) {
    const Utf8Character character = ReadUtf8(spelled);
    if (character.code_point >= kInverse.size() || kInverse[character.code_point] < 0) {
      return std::nullopt;
    }
    bytes.push_back(static_cast<char>(kInverse[character.code_point]));
    spelled.remove_prefix(character.size);
  }
  return bytes;
}

std::string AlphabetFromBytes(std::string_view bytes) {
  std::string spelled;
  for (const char byte : bytes) {
    const char32_t code_point = kAlphabet[static_cast<unsigned char>(byte)];
    if (code_point < 0x80) {
      spelled.push_back(static_cast<char>(code_point));
    } else {  // all are below U+0800
      spelled.push_back(static_cast<char>(0xc0 | code_point >> 6));
      spelled.push_back(static_cast<char>(0x80 | (code_point & 0x3f)));
    }
  }
  return spelled;
}

}  // namespace gpt2
