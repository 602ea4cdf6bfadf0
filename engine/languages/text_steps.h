// The steps of a tokenizer before its model: normalizers change a text, and cutters split it into
// pieces.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/function_ref.h"
#include "engine/base/result.h"
#include "engine/languages/charsmap.h"
#include "engine/languages/pattern.h"
#include "engine/languages/unicode_forms.h"
#include "engine/text/aligned_text.h"
#include "engine/text/tokenizer_rules.h"

namespace gpt2 {

// A normalizer: changes a text. Immutable.
class TextStep {
 public:
  virtual ~TextStep() = default;
  virtual Result<std::string> Apply(std::string text) const = 0;
  // Applies the step to `text`, which may have places.
  virtual Status ApplyTo(AlignedText& text) const;
};
using TextSteps = std::vector<std::unique_ptr<const TextStep>>;

std::unique_ptr<const TextStep> FormStep(UnicodeForm form);
std::unique_ptr<const TextStep> LowercaseStep();
std::unique_ptr<const TextStep> StripAccentsStep();
// A normalizer of engine/text.
std::unique_ptr<const TextStep> PlainStep(Normalizer normalizer);
std::unique_ptr<const TextStep> ReplaceStep(Pattern pattern, std::string content);
std::unique_ptr<const TextStep> CharsMapStep(CharsMap map);

struct BertRules {
  bool cleans = true;
  bool spaces_chinese = true;
  bool strips_accents = true;
  bool lowercases = true;
};
std::unique_ptr<const TextStep> BertStep(const BertRules& rules);

// A piece of a text. No token crosses its ends.
struct TextPiece : AlignedText {
  bool is_first = false;  // whether it is at the start of the original text

  // The bytes from `begin` to `end`. With places, these decide whether the part is first: a step
  // may have removed the beginning of the text, or prepended to it.
  TextPiece Cut(std::size_t begin, std::size_t end) const {
    const bool is_at_start = places.empty() ? begin == 0 : PlaceOf(begin, end).begin == 0;
    return {Part(begin, end), is_first && is_at_start};
  }
};

// How matches of a pattern are split, with the names in `tokenizers`.
enum class CutBehavior {
  kRemoved,
  kIsolated,
  kMergedWithPrevious,
  kMergedWithNext,
  kContiguous,  // adjacent matches form one
};

// A pre-tokenizer: cuts the pieces of a text into smaller ones. Immutable.
class TextCutter {
 public:
  virtual ~TextCutter() = default;
  // Cuts `piece`, which is not empty, and appends the resulting pieces. None of them is empty.
  virtual Status Cut(TextPiece piece, std::vector<TextPiece>& pieces) const = 0;
  // Whether it treats the first piece in another way.
  virtual bool wants_first() const { return false; }
};
using TextCutters = std::vector<std::unique_ptr<const TextCutter>>;

std::unique_ptr<const TextCutter> PatternCutter(Pattern pattern, CutBehavior behavior,
                                                bool is_inverted);
std::unique_ptr<const TextCutter> LiteralCutter(std::string literal, CutBehavior behavior,
                                                bool is_inverted);
// A cutter whose matches are the characters for which `is_match` is true.
std::unique_ptr<const TextCutter> CharacterCutter(bool (*is_match)(char32_t character),
                                                  CutBehavior behavior);
// A cutter into words and runs of other characters. It drops white space.
std::unique_ptr<const TextCutter> WordCutter();
// With `adds_space`, adds a space to each piece that does not begin with one. With `has_words`,
// cuts the pieces into GPT-2's words.
std::unique_ptr<const TextCutter> ByteLevelCutter(bool adds_space, bool has_words);

// Where Metaspace adds its character to a piece that does not begin with it.
enum class PrependScheme { kFirst, kNever, kAlways };
// Spaces become `replacement`, and start new pieces if `is_split`.
std::unique_ptr<const TextCutter> MetaspaceCutter(std::string replacement, PrependScheme scheme,
                                                  bool is_split);

bool IsWhiteSpace(char32_t character);
bool IsPunctuation(char32_t character);

}  // namespace gpt2
