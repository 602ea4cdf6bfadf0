// SentencePiece's table for normalizing texts ("precompiled_charsmap"), read and applied like the
// Rust library `tokenizers` does (its crate spm_precompiled).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace gpt2 {

// The table. Immutable.
class CharsMap {
 public:
  // `bytes` holds the size of a trie as a little-endian 32-bit number, and the trie, a double array
  // of darts-clone. The replacements follow, each terminated by a zero byte. Errors name no file.
  static Result<CharsMap> Read(std::string_view bytes);

  // `text` with each character, or grapheme of less than six bytes, replaced if the table contains
  // it. Fails if the trie is damaged.
  Result<std::string> Apply(std::string_view text) const;

  // The length of the longest replacement in bytes.
  std::size_t longest() const { return longest_; }

 private:
  // The replacement of the shortest prefix of `text` in the table.
  Result<std::optional<std::string_view>> Find(std::string_view text) const;

  std::vector<std::uint32_t> units_;
  std::string texts_;
  std::size_t longest_ = 0;
};

}  // namespace gpt2
