#include "engine/text/utf8.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace gpt2 {
namespace {

bool IsContinuation(unsigned char byte) {
  return (byte & 0xc0) == 0x80;
}

// The length of the character that `lead` begins, 0 if it begins none.
std::size_t LengthFromLead(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  if (lead >= 0xf0 && lead <= 0xf4) return 4;
  return 0;
}

// Whether the second byte rules out an overlong form, a surrogate or a value past U+10FFFF.
bool IsSecondByteOf(unsigned char lead, unsigned char second) {
  if (lead == 0xe0) return second >= 0xa0 && IsContinuation(second);
  if (lead == 0xed) return second <= 0x9f && IsContinuation(second);
  if (lead == 0xf0) return second >= 0x90 && IsContinuation(second);
  if (lead == 0xf4) return second <= 0x8f && IsContinuation(second);
  return IsContinuation(second);
}

// How many bytes of `text` are a correct beginning of the character that its first byte begins.
std::size_t ValidPrefix(std::string_view text, std::size_t length) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  std::size_t valid = 1;
  while (valid < std::min(length, text.size())) {
    const bool fits = valid == 1 ? IsSecondByteOf(byte(0), byte(1)) : IsContinuation(byte(valid));
    if (!fits) break;
    ++valid;
  }
  return valid;
}

}  // namespace

Utf8Character ReadUtf8(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = LengthFromLead(lead);
  if (length == 0) return {kInvalidCodePoint, 1};
  if (const std::size_t valid = ValidPrefix(text, length); valid < length) {
    return {kInvalidCodePoint, valid};
  }
  if (length == 1) return {lead, 1};
  char32_t code_point = lead & (0x7f >> length);
  for (std::size_t i = 1; i < length; ++i) {
    code_point = code_point << 6 | (static_cast<unsigned char>(text[i]) & 0x3f);
  }
  return {code_point, length};
}

std::size_t IncompleteUtf8Tail(std::string_view text) {
  for (std::size_t size = 1; size <= std::min<std::size_t>(3, text.size()); ++size) {
    const std::string_view tail = text.substr(text.size() - size);
    const std::size_t length = LengthFromLead(static_cast<unsigned char>(tail[0]));
    if (length > size) return ValidPrefix(tail, length) == size ? size : 0;
    if (length != 0) return 0;
  }
  return 0;
}

void AppendUtf8(std::string_view text, std::string& out) {
  while (!text.empty()) {
    const Utf8Character character = ReadUtf8(text);
    out += character.code_point == kInvalidCodePoint ? kReplacementCharacter
                                                     : text.substr(0, character.size);
    text.remove_prefix(character.size);
  }
}

// One for each character, and another for those of four bytes, which are pairs of surrogates.
std::size_t Utf16Length(std::string_view text) {
  std::size_t length = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    length += (IsContinuation(byte) ? 0u : 1u) + (byte >= 0xf0 ? 1u : 0u);
  }
  return length;
}

std::string Utf8Stream::Push(std::string_view bytes) {
  pending_ += bytes;
  const std::size_t whole = pending_.size() - IncompleteUtf8Tail(pending_);
  std::string text;
  AppendUtf8(std::string_view(pending_).substr(0, whole), text);
  pending_.erase(0, whole);
  return text;
}

std::string Utf8Stream::Flush() {
  std::string text;
  AppendUtf8(pending_, text);
  pending_.clear();
  return text;
}

}  // namespace gpt2
