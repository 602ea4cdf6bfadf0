// GPT-2's pre-tokenizer: cuts text into words, the units inside which byte pairs merge.
#pragma once

#include <cstddef>
#include <string_view>

namespace gpt2 {

// The size in bytes of the first word of non-empty `text`, as the pattern of GPT-2's encoder.py
// matches:
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// Runs in time linear in that size. Bytes that are not valid UTF-8 count as neither letter, number
// nor space.
std::size_t FirstWordSize(std::string_view text);

}  // namespace gpt2
