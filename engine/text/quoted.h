// Shows text from outside in error messages and on terminals.
#pragma once

#include <string>
#include <string_view>

namespace gpt2 {

// `text` in quotes, spelled as JSON would and as Visible() shows it. So it stays on its line and is
// valid UTF-8, whatever its bytes are. A long text is cut after about 80 bytes, and its length
// follows.
std::string Quoted(std::string_view text);

// `text` on one line that cannot steer a terminal. Escapes as in JSON replace control characters,
// marks that hide or reorder text, and line separators. U+FFFD replaces bytes that are not UTF-8.
// Characters in `kept` stay. JSON stays the same JSON.
std::string Visible(std::string_view text, std::string_view kept = "");

}  // namespace gpt2
