// Graphemes, which readers see as one character (UAX #29, extended grapheme clusters). The Rust
// library `tokenizers` splits a text in the same way before it looks them up in a CharsMap.
#pragma once

#include <cstddef>
#include <string_view>

namespace gpt2 {

// The size in bytes of the first grapheme of `text`, which is not empty. Takes time linear in that
// size. Does not join regional indicators in pairs, because a CharsMap looks up only texts shorter
// than two of them.
std::size_t FirstGraphemeSize(std::string_view text);

}  // namespace gpt2
