// Text from outside in an error message.
#pragma once

#include <string>
#include <string_view>

namespace gpt2 {

// `text` in quotes, spelled as JSON would, so that it stays on its line and is valid UTF-8 whatever
// its bytes are. Of a long one the first 80 bytes or so, and how many there are.
std::string Quoted(std::string_view text);

}  // namespace gpt2
