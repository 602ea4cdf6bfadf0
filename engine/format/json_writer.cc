#include "engine/format/json_writer.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "engine/text/utf8.h"

namespace gpt2 {
namespace {

void AppendEscaped(std::string_view text, std::string& out) {
  out += '"';
  while (!text.empty()) {
    const Utf8Character character = ReadUtf8(text);
    const auto byte = static_cast<unsigned char>(text[0]);
    if (character.code_point == kInvalidCodePoint) {
      out += kReplacementCharacter;
    } else if (byte < 0x20) {
      constexpr char kDigits[] = "0123456789abcdef";
      out += "\\u00";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    } else {
      if (byte == '"' || byte == '\\') out += '\\';
      out += text.substr(0, character.size);
    }
    text.remove_prefix(character.size);
  }
  out += '"';
}

}  // namespace

JsonWriter& JsonWriter::Raw(std::string_view json) {
  if (needs_comma_) *out_ += ',';
  *out_ += json;
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::Open(char bracket) {
  Raw({&bracket, 1});
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::Close(char bracket) {
  *out_ += bracket;
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view name) {
  Value(name);
  *out_ += ':';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::Value(std::string_view text) {
  Raw({});
  AppendEscaped(text, *out_);
  return *this;
}

JsonWriter& JsonWriter::Value(double number) {
  if (!std::isfinite(number)) return Null();
  char digits[64];
  const char* end = nlohmann::detail::to_chars(digits, digits + sizeof digits, number);
  return Raw({digits, static_cast<std::size_t>(end - digits)});
}

JsonWriter& JsonWriter::Whole(std::int64_t number) {
  return Raw(std::to_string(number));
}

JsonWriter& JsonWriter::Value(bool value) {
  return Raw(value ? "true" : "false");
}

JsonWriter& JsonWriter::Null() {
  return Raw("null");
}

}  // namespace gpt2
