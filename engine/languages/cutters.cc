// Splits a text into pieces.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/languages/characters.h"
#include "engine/languages/pattern.h"
#include "engine/languages/text_steps.h"
#include "engine/languages/unicode_forms.h"
#include "engine/text/pre_tokenizer.h"
#include "engine/text/unicode_class.h"
#include "engine/text/utf8.h"

namespace gpt2 {
namespace {

// A match, or the text between two.
struct Part {
  std::size_t begin;  // bytes
  std::size_t end;
  bool is_match;
};

// Collects matches in order, and the text between them.
class Parts {
 public:
  void AddMatch(std::size_t begin, std::size_t end) {
    AddRest(begin);
    parts_.push_back({begin, end, true});
    end_ = end;
  }
  void AddRest(std::size_t begin) {
    if (end_ < begin) parts_.push_back({end_, begin, false});
    end_ = begin;
  }
  // All parts of a text of `size` bytes. `is_inverted` swaps matches and the text between them.
  std::vector<Part> Take(std::size_t size, bool is_inverted) {
    AddRest(size);
    for (Part& part : parts_) part.is_match ^= is_inverted;
    return std::move(parts_);
  }

 private:
  std::vector<Part> parts_;
  std::size_t end_ = 0;
};

// As tokenizers/src/tokenizer/normalizer.rs, NormalizedString::split.
std::vector<Part> Merged(std::vector<Part> parts, CutBehavior behavior) {
  if (behavior == CutBehavior::kIsolated) return parts;
  std::vector<Part> merged;
  const bool is_backward = behavior == CutBehavior::kMergedWithNext;
  if (is_backward) std::reverse(parts.begin(), parts.end());
  bool was_match = false;
  for (const Part& part : parts) {
    bool joins = false;
    switch (behavior) {
      case CutBehavior::kRemoved:
      case CutBehavior::kIsolated:
        break;
      case CutBehavior::kMergedWithPrevious:
      case CutBehavior::kMergedWithNext:
        joins = part.is_match && !was_match;
        break;
      case CutBehavior::kContiguous:
        joins = part.is_match == was_match;
        break;
    }
    was_match = part.is_match;
    if (behavior == CutBehavior::kRemoved && part.is_match) continue;
    if (!joins || merged.empty()) {
      merged.push_back(part);
    } else {
      merged.back().begin = std::min(merged.back().begin, part.begin);
      merged.back().end = std::max(merged.back().end, part.end);
    }
  }
  if (is_backward) std::reverse(merged.begin(), merged.end());
  return merged;
}

void AppendPieces(const TextPiece& piece, std::vector<Part> parts, CutBehavior behavior,
                  std::vector<TextPiece>& pieces) {
  for (const Part& part : Merged(std::move(parts), behavior)) {
    pieces.push_back(piece.Cut(part.begin, part.end));
  }
}

class ByPattern final : public TextCutter {
 public:
  ByPattern(Pattern pattern, CutBehavior behavior, bool is_inverted)
      : pattern_(std::move(pattern)), behavior_(behavior), is_inverted_(is_inverted) {}
  Status Cut(TextPiece piece, std::vector<TextPiece>& pieces) const override {
    std::size_t steps_left = Pattern::StepsFor(piece.text);
    Parts parts;
    for (std::size_t at = 0;;) {
      GPT2_ASSIGN(const auto match, pattern_.Find(piece.text, at, steps_left));
      if (!match) break;
      parts.AddMatch(match->begin, match->end);
      at = match->end;
    }
    AppendPieces(piece, parts.Take(piece.text.size(), is_inverted_), behavior_, pieces);
    return Done{};
  }

 private:
  Pattern pattern_;
  CutBehavior behavior_;
  bool is_inverted_;
};

class ByLiteral final : public TextCutter {
 public:
  ByLiteral(std::string literal, CutBehavior behavior, bool is_inverted)
      : literal_(std::move(literal)), behavior_(behavior), is_inverted_(is_inverted) {}
  Status Cut(TextPiece piece, std::vector<TextPiece>& pieces) const override {
    Parts parts;
    for (std::size_t at = 0; (at = piece.text.find(literal_, at)) != std::string::npos;) {
      parts.AddMatch(at, at + literal_.size());
      at += literal_.size();
    }
    AppendPieces(piece, parts.Take(piece.text.size(), is_inverted_), behavior_, pieces);
    return Done{};
  }

 private:
  std::string literal_;
  CutBehavior behavior_;
  bool is_inverted_;
};

class ByCharacter final : public TextCutter {
 public:
  ByCharacter(bool (*is_match)(char32_t), CutBehavior behavior)
      : is_match_(is_match), behavior_(behavior) {}
  Status Cut(TextPiece piece, std::vector<TextPiece>& pieces) const override {
    Parts parts;
    std::size_t at = 0;
    while (at < piece.text.size()) {
      const Utf8Character character = ReadUtf8(std::string_view(piece.text).substr(at));
      if (character.code_point != kInvalidCodePoint && is_match_(character.code_point)) {
        parts.AddMatch(at, at + character.size);
      }
      at += character.size;
    }
    AppendPieces(piece, parts.Take(piece.text.size(), /*is_inverted=*/false), behavior_, pieces);
    return Done{};
  }

 private:
  bool (*is_match_)(char32_t);
  CutBehavior behavior_;
};

// \w+|[^\w\s]+
class ByWord final : public TextCutter {
 public:
  Status Cut(TextPiece piece, std::vector<TextPiece>& pieces) const override {
    enum Kind { kSpace, kWord, kOther };
    Parts parts;
    std::size_t begin = 0, at = 0;
    Kind last = kSpace;
    const auto end = [&] {
      if (last != kSpace && begin < at) parts.AddMatch(begin, at);
      if (last == kSpace) parts.AddRest(at);
    };
    while (at < piece.text.size()) {
      const Utf8Character character = ReadUtf8(std::string_view(piece.text).substr(at));
      const bool is_valid = character.code_point != kInvalidCodePoint;
      const Kind kind = is_valid && IsWhiteSpace(character.code_point)      ? kSpace
                        : is_valid && IsWordCharacter(character.code_point) ? kWord
                                                                            : kOther;
      if (kind != last) {
        end();
        begin = at;
        last = kind;
      }
      at += character.size;
    }
    end();
    AppendPieces(piece, parts.Take(piece.text.size(), /*is_inverted=*/true), CutBehavior::kRemoved,
                 pieces);
    return Done{};
  }
};

class ByteLevel final : public TextCutter {
 public:
  ByteLevel(bool adds_space, bool has_words) : adds_space_(adds_space), has_words_(has_words) {}
  Status Cut(TextPiece piece, std::vector<TextPiece>& pieces) const override {
    if (adds_space_ && piece.text[0] != ' ') piece.Prepend(" ");
    Parts parts;
    for (std::size_t at = 0; has_words_ && at < piece.text.size();) {
      const std::size_t size = FirstWordSize(std::string_view(piece.text).substr(at));
      parts.AddMatch(at, at + size);
      at += size;
    }
    AppendPieces(piece, parts.Take(piece.text.size(), /*is_inverted=*/false),
                 CutBehavior::kIsolated, pieces);
    return Done{};
  }

 private:
  bool adds_space_;
  bool has_words_;
};

class Metaspace final : public TextCutter {
 public:
  Metaspace(std::string replacement, PrependScheme scheme, bool is_split)
      : replacement_(std::move(replacement)),
        scheme_(scheme),
        by_replacement_(replacement_, CutBehavior::kMergedWithNext, /*is_inverted=*/false),
        is_split_(is_split) {}
  Status Cut(TextPiece piece, std::vector<TextPiece>& pieces) const override {
    TextPiece replaced{piece.Part(0, 0), piece.is_first};
    for (std::size_t i = 0; i < piece.text.size(); ++i) {
      if (piece.text[i] == ' ') {
        replaced.Put(replacement_, piece.PlaceOf(i, i + 1));
      } else {
        replaced.Keep(piece, i, i + 1);
      }
    }
    const bool is_wanted =
        scheme_ == PrependScheme::kAlways || (scheme_ == PrependScheme::kFirst && piece.is_first);
    if (is_wanted && !replaced.text.starts_with(replacement_)) replaced.Prepend(replacement_);
    piece = std::move(replaced);
    if (is_split_) return by_replacement_.Cut(std::move(piece), pieces);
    pieces.push_back(std::move(piece));
    return Done{};
  }
  bool wants_first() const override { return scheme_ == PrependScheme::kFirst; }

 private:
  std::string replacement_;
  PrependScheme scheme_;
  ByLiteral by_replacement_;
  bool is_split_;
};

}  // namespace

bool IsWhiteSpace(char32_t character) {
  return character < kFirstByte && ClassOf(character) == CharacterClass::kSpace;
}

bool IsPunctuation(char32_t character) {
  return (TraitsOf(character) & kPunctuation) != 0;
}

std::unique_ptr<const TextCutter> PatternCutter(Pattern pattern, CutBehavior behavior,
                                                bool is_inverted) {
  return std::make_unique<ByPattern>(std::move(pattern), behavior, is_inverted);
}
std::unique_ptr<const TextCutter> LiteralCutter(std::string literal, CutBehavior behavior,
                                                bool is_inverted) {
  return std::make_unique<ByLiteral>(std::move(literal), behavior, is_inverted);
}
std::unique_ptr<const TextCutter> CharacterCutter(bool (*is_match)(char32_t),
                                                  CutBehavior behavior) {
  return std::make_unique<ByCharacter>(is_match, behavior);
}
std::unique_ptr<const TextCutter> WordCutter() {
  return std::make_unique<ByWord>();
}
std::unique_ptr<const TextCutter> ByteLevelCutter(bool adds_space, bool has_words) {
  return std::make_unique<ByteLevel>(adds_space, has_words);
}
std::unique_ptr<const TextCutter> MetaspaceCutter(std::string replacement, PrependScheme scheme,
                                                  bool is_split) {
  return std::make_unique<Metaspace>(std::move(replacement), scheme, is_split);
}

}  // namespace gpt2
