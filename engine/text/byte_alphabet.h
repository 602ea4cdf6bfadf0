// The printable characters that represent bytes in vocab.json and merges.txt (bytes_to_unicode in
// GPT-2's encoder.py). Printable Latin-1 represents itself; U+0100 and up represent the other 68
// bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gpt2 {

// The bytes of `spelled` (UTF-8); nothing if a character is outside the alphabet.
std::optional<std::string> BytesFromAlphabet(std::string_view spelled);

// The characters that represent `bytes`.
std::string AlphabetFromBytes(std::string_view bytes);

}  // namespace gpt2
