#include "engine/text/quoted.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "engine/text/utf8.h"

namespace gpt2 {
namespace {

// Unicode's categories Cc, Cf, Zl and Zp, less what only scripts other than Latin use.
constexpr struct {
  char32_t first, last;
} kInvisible[] = {{0x00, 0x1f},     {0x7f, 0x9f},      {0xad, 0xad},     {0x61c, 0x61c},
                  {0x200b, 0x200f}, {0x2028, 0x202e},  {0x2060, 0x206f}, {0xfeff, 0xfeff},
                  {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};

bool IsInvisible(char32_t character) {
  for (const auto& [first, last] : kInvisible) {
    if (character >= first && character <= last) return true;
  }
  return false;
}

// Appends \u and the four digits of a UTF-16 code unit.
void AppendEscape(char32_t unit, std::string& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kHex[(unit >> shift) & 15];
}

// Appends the first character of `text`, and returns the rest.
std::string_view AppendVisible(std::string_view text, std::string& out) {
  const auto [code_point, size] = ReadUtf8(text);
  if (code_point == kInvalidCodePoint) {
    out += kReplacementCharacter;
  } else if (!IsInvisible(code_point)) {
    out += text.substr(0, size);
  } else if (code_point < 0x10000) {
    AppendEscape(code_point, out);
  } else {
    AppendEscape(0xd800 + ((code_point - 0x10000) >> 10), out);
    AppendEscape(0xdc00 + ((code_point - 0x10000) & 0x3ff), out);
  }
  return text.substr(size);
}

}  // namespace

std::string Quoted(std::string_view text) {
  constexpr std::size_t kMost = 80;  // bytes
  std::string quoted = "\"";
  std::string_view rest = text;
  while (!rest.empty() && text.size() - rest.size() < kMost) {
    if (rest[0] == '"' || rest[0] == '\\') quoted += '\\';
    rest = AppendVisible(rest, quoted);
  }
  quoted += '"';
  if (!rest.empty()) quoted += "... (" + std::to_string(text.size()) + " bytes)";
  return quoted;
}

std::string Visible(std::string_view text, std::string_view kept) {
  std::string visible;
  while (!text.empty()) {
    if (kept.find(text[0]) == std::string_view::npos) {
      text = AppendVisible(text, visible);
    } else {
      visible += text[0];
      text.remove_prefix(1);
    }
  }
  return visible;
}

}  // namespace gpt2
