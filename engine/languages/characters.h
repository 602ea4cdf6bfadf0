// Text as a sequence of characters.
#pragma once

#include <string>
#include <string_view>

namespace gpt2 {

// The code points of UTF-8. A byte that is not part of a character becomes kFirstByte plus its
// value.
inline constexpr char32_t kFirstByte = 0x110000;
std::u32string Characters(std::string_view text);

// The bytes of `characters`: the inverse function.
std::string BytesOf(std::u32string_view characters);
void AppendCharacter(char32_t character, std::string& out);

}  // namespace gpt2
