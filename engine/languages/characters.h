// Text as a row of characters.
#pragma once

#include <string>
#include <string_view>

namespace gpt2 {

// Of valid UTF-8 the code points. A byte that is no character becomes kFirstByte plus itself.
inline constexpr char32_t kFirstByte = 0x110000;
std::u32string Characters(std::string_view text);

// The reverse: the same bytes.
std::string BytesOf(std::u32string_view characters);
void AppendCharacter(char32_t character, std::string& out);

}  // namespace gpt2
