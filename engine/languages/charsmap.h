// The table of characters that SentencePiece normalizes texts with ("precompiled_charsmap"), as the
// Rust library `tokenizers` reads and applies it (its crate spm_precompiled).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace gpt2 {

// Immutable.
class CharsMap {
 public:
  // `bytes` holds the size of a trie as a little-endian 32-bit number, and the trie, a double array
  // of darts-clone. Then come the replacements, each with a zero byte behind it. Errors name no
  // file.
  static Result<CharsMap> Read(std::string_view bytes);

  // `text` with each character, or grapheme of less than six bytes, replaced if the table has it.
  // Fails if the trie is damaged.
  Result<std::string> Apply(std::string_view text) const;

  // Bytes of the longest text that something becomes.
  std::size_t longest() const { return longest_; }

 private:
  // What the shortest beginning of `text` that the table has becomes.
  Result<std::optional<std::string_view>> Find(std::string_view text) const;

  std::vector<std::uint32_t> units_;
  std::string texts_;
  std::size_t longest_ = 0;
};

}  // namespace gpt2
