// The regular expressions with which tokenizers split text, with Oniguruma's meaning.
//
// It supports alternatives, groups without a number, (?i:...), characters and their classes (\s,
// \S, \p{L}, \p{N} and their negations, \r, \n, \t, sets). It also supports the quantifiers ?, *, +
// and {n,m} of a character, ? of a group, and (?!...) and (?=...) of a character. Anything else is
// refused, and the error names it and its place.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/text/unicode_class.h"

namespace gpt2 {

// A regular expression. Immutable.
class Pattern {
 public:
  // Reads an expression. An error names the unsupported syntax; the caller adds the origin of the
  // expression.
  static Result<Pattern> Read(std::string_view text);

  struct Match {
    std::size_t begin;  // bytes
    std::size_t end;
  };
  // The first match in `text` that begins at `from` or later. A match is never empty. Subtracts its
  // steps from `steps_left`, and fails if none are left, because an expression may need more than
  // linear time.
  Result<std::optional<Match>> Find(std::string_view text, std::size_t from,
                                    std::size_t& steps_left) const;
  // A number of steps that suffices to find all matches in `text` with the expressions of published
  // tokenizers.
  static std::size_t StepsFor(std::string_view text);

 private:
  friend class PatternReader;

  static constexpr std::size_t kUnlimited = static_cast<std::size_t>(-1);
  static constexpr std::size_t kMostSteps = 1024;  // the most steps of an expression

  // A set of characters.
  struct Set {
    struct Range {
      char32_t first;
      char32_t last;
    };
    std::vector<Range> ranges;
    unsigned classes = 0;      // bits: 1 << CharacterClass
    unsigned not_classes = 0;  // bits of negated classes
    bool is_negated = false;
    bool Has(char32_t character) const;
    static unsigned Bit(CharacterClass one) { return 1u << static_cast<unsigned>(one); }
  };

  // A step. The match continues at `next` unless stated otherwise.
  struct Step {
    enum class Kind {
      kCharacters,  // `least` to `most` characters of the set, as many as possible
      kEither,      // first `next`, then `other`
      kAhead,       // the next character is in the set, but is not consumed
      kNotAhead,    // the next character is not in the set, and is not consumed
      kEnd,
    };
    Kind kind = Kind::kEnd;
    std::size_t set = 0;
    std::size_t least = 1;
    std::size_t most = 1;
    std::size_t next = 0;
    std::size_t other = 0;
  };

  Result<std::optional<std::size_t>> MatchAt(std::string_view text, std::size_t from,
                                             std::size_t& steps_left) const;

  std::vector<Set> sets_;
  std::vector<Step> steps_;
  std::size_t start_ = 0;
};

}  // namespace gpt2
