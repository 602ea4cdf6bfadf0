// Finds added tokens like the Rust library `tokenizers` (added_vocabulary.rs).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/text/aligned_text.h"
#include "engine/text/tokenizer_rules.h"

namespace gpt2 {

// Bytes of the longest added token: bounds the work for each byte of a text.
inline constexpr std::size_t kMostAddedBytes = 512;

// Immutable. Finds the first place where a token begins, and the longest token there.
class AddedTokens {
 public:
  AddedTokens() = default;
  // If several tokens have the same content, the first special one is used, or else the first.
  explicit AddedTokens(std::vector<AddedToken> tokens);

  struct Match {
    std::size_t begin;  // bytes
    std::size_t end;
    const AddedToken* token;
  };
  // The first match in `text` from byte `from` on.
  std::optional<Match> Find(std::string_view text, std::size_t from) const;

  bool empty() const { return tokens_.empty(); }

 private:
  const AddedToken* LongestAt(std::string_view text) const;

  std::vector<AddedToken> tokens_;  // by content, each once
  std::array<bool, 256> begins_{};  // whether a token begins with the byte
};

// Splits a text at added tokens. Borrows the text and the tokens.
class AddedTokenCutter {
 public:
  AddedTokenCutter(const AddedTokens& tokens, std::string_view text, bool takes_special)
      : tokens_(&tokens), text_(text), takes_special_(takes_special) {}
  AddedTokenCutter() = default;

  struct Cut {
    std::string_view before;
    std::optional<std::int32_t> id;  // the id of the token after `before`; none at the end
    TokenPlace place;                // of that token in the text; `before` ends where it begins
  };
  // Only while !is_done().
  Cut Next();
  bool is_done() const { return is_done_; }

 private:
  bool IsWanted(const AddedTokens::Match& match) const;

  const AddedTokens* tokens_ = nullptr;
  std::string_view text_;
  bool takes_special_ = false;
  bool is_done_ = false;
  std::size_t cut_ = 0;        // the byte after the last token
  std::size_t search_ = 0;     // the byte after the last match
  std::size_t space_end_ = 0;  // end of the last stripped white space: not examined again
};

// Bytes of white space at the beginning and at the end of `text`.
std::size_t SpaceAtBegin(std::string_view text);
std::size_t SpaceAtEnd(std::string_view text);

}  // namespace gpt2
