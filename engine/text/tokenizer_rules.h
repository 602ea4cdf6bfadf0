// The rules of a tokenizer other than merging byte pairs: other sections of a tokenizer.json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/aligned_text.h"

namespace gpt2 {

// A token that is found in the text before all rules. `content` is its spelling in the text.
struct AddedToken {
  std::string content;
  std::int32_t id = -1;
  bool is_special = false;      // found only if special tokens are allowed
  bool is_single_word = false;  // not inside a word
  bool strips_left = false;     // includes the white space before it
  bool strips_right = false;    // includes the white space after it
  bool is_normalized = false;   // found in the normalized text
};

// A step that changes the text.
struct Normalizer {
  enum class Kind {
    kReplace,  // `pattern` becomes `content`
    kPrepend,  // `content` comes before a text that is not empty
    kStrip,    // no white space at the ends
  };
  Kind kind = Kind::kReplace;
  std::string pattern;
  std::string content;
  bool strips_left = false;
  bool strips_right = false;
};

// A step that cuts the text into pieces. No token extends over a cut.
struct Splitter {
  enum class Kind {
    kDigits,        // runs of the Unicode category N
    kSingleDigits,  // each character of the category N
    kText,          // matches of `pattern`
    kGpt2Words,     // GPT-2's words: see FirstWordSize
  };
  Kind kind = Kind::kDigits;
  std::string pattern;
};

// The defaults are GPT-2's own rules.
struct TokenizerRules {
  std::vector<AddedToken> added;        // ids may be higher than those of the vocabulary
  std::vector<Normalizer> normalizers;  // in order
  std::vector<Splitter> splitters{{.kind = Splitter::Kind::kGpt2Words, .pattern = {}}};
  // Before the splitter of this index, or after the last splitter, each piece gets a space at its
  // beginning if it has none.
  std::optional<std::size_t> prefix_space_at;
  bool ignores_merges = false;          // a word that equals a token becomes it, without merges
  std::vector<std::int32_t> beginning;  // the tokens before every text
  std::vector<std::int32_t> end;
};

// Applies all `normalizers` to `text`. Bytes that are not part of a character stay unchanged.
void Normalize(const std::vector<Normalizer>& normalizers, AlignedText& text);

// The size in bytes of the first piece of `text`, which is not empty and begins where a piece
// begins. Takes time linear in that size.
std::size_t FirstPieceSize(const Splitter& splitter, std::string_view text);

}  // namespace gpt2
