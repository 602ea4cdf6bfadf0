// The rules of a tokenizer other than merging byte pairs: other sections of a tokenizer.json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpt2 {

// A token that is found in the text before all rules, spelled as it stands in the text.
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
    kSingleDigits,  // each of them
    kText,          // `pattern`
    kGpt2Words,     // FirstWordSize
  };
  Kind kind = Kind::kDigits;
  std::string pattern;
};

// The defaults are GPT-2's own rules.
struct TokenizerRules {
  std::vector<AddedToken> added;        // ids may be higher than those of the vocabulary
  std::vector<Normalizer> normalizers;  // in order
  std::vector<Splitter> splitters{{.kind = Splitter::Kind::kGpt2Words, .pattern = {}}};
  // Each piece that reaches the splitter of this index, or passes the last one, begins with a
  // space: one is inserted if it is missing.
  std::optional<std::size_t> prefix_space_at;
  bool ignores_merges = false;          // a word that is a token is that token
  std::vector<std::int32_t> beginning;  // of every text
  std::vector<std::int32_t> end;
};

// `text` after all `normalizers`. Bytes that are not part of a character stay unchanged.
std::string Normalize(const std::vector<Normalizer>& normalizers, std::string_view text);

// Bytes of the first piece of `text`, which is not empty and begins where a piece does. Takes time
// linear in that.
std::size_t FirstPieceSize(const Splitter& splitter, std::string_view text);

}  // namespace gpt2
