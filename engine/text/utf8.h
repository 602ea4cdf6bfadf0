// UTF-8 (RFC 3629): reading one character, and cutting a stream only between characters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpt2 {

struct Utf8Character {
  char32_t code_point;  // kInvalidCodePoint for bytes that are no character
  std::size_t size;     // bytes, at least 1
};
inline constexpr char32_t kInvalidCodePoint = 0xffffffff;

// U+FFFD replaces bytes that belong to no character. One replaces a sequence that correctly begins
// a character but does not go on; otherwise one replaces each byte. Every decoder on the web does
// this (WHATWG's Encoding Standard; in the Unicode Standard, "substitution of maximal subparts").
inline constexpr std::string_view kReplacementCharacter = "\xef\xbf\xbd";

// The first character of non-empty `text`, or the bytes that one U+FFFD stands for.
Utf8Character ReadUtf8(std::string_view text);

// The number of bytes at the end of `text` that could begin an incomplete character: 0 to 3.
std::size_t IncompleteUtf8Tail(std::string_view text);

// Appends `text` to `out`; bytes that belong to no character become U+FFFD.
void AppendUtf8(std::string_view text, std::string& out);

// The length of `text`, which is valid UTF-8, in UTF-16 code units, as JavaScript counts.
std::size_t Utf16Length(std::string_view text);

// Turns bytes that arrive in any pieces into valid UTF-8. It holds back a character until all of
// its bytes have arrived, and replaces bytes that belong to no character with U+FFFD. Not
// thread-safe.
class Utf8Stream {
 public:
  // The text that `bytes` completes.
  std::string Push(std::string_view bytes);

  // Returns the rest of the text, at the end of the stream.
  std::string Flush();

 private:
  std::string pending_;
};

}  // namespace gpt2
