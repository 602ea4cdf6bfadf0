// Text from outside, in an error message and on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace gpt2 {

// `text` in quotes, spelled as JSON would and as Visible() shows it, so that it stays on its line
// and is valid UTF-8 whatever its bytes are. Of a long one the first 80 bytes or so, and how many
// there are.
std::string Quoted(std::string_view text);

// `text` on one line that cannot steer a terminal: escapes as in JSON take the place of control
// characters, of marks that hide or reorder text, and of line separators, and U+FFFD that of bytes
// that are no UTF-8. Characters in `kept` stay. JSON stays the same JSON.
std::string Visible(std::string_view text, std::string_view kept = "");

}  // namespace gpt2
