// Reads an expression.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/languages/characters.h"
#include "engine/languages/pattern.h"
#include "engine/text/quoted.h"
#include "engine/text/unicode_class.h"

namespace gpt2 {

// A recursive descent. Steps are created from the end: each refers to its `next`.
class PatternReader {
 public:
  explicit PatternReader(std::string_view text) : characters_(Characters(text)) {}

  Result<Pattern> Read() {
    GPT2_ASSIGN(const Node whole, ReadAlternatives(0));
    if (at_ < characters_.size()) return Refuse("an unmatched )");
    const std::size_t end = Add({});
    GPT2_ASSIGN(pattern_.start_, Link(whole, end));
    if (whole.can_be_empty) return Error{ErrorCode::kUnsupported, "it can match the empty string"};
    return std::move(pattern_);
  }

 private:
  struct Node {
    enum class Kind { kStep, kSequence, kEither, kMaybe };
    Kind kind = Kind::kSequence;
    Pattern::Step step;
    std::vector<Node> parts;
    bool can_be_empty = true;
  };

  bool Has(char32_t character) const {
    return at_ < characters_.size() && characters_[at_] == character;
  }
  bool Take(char32_t character) {
    if (!Has(character)) return false;
    ++at_;
    return true;
  }
  bool TakeAll(std::u32string_view text) {
    if (!std::u32string_view(characters_).substr(at_).starts_with(text)) return false;
    at_ += text.size();
    return true;
  }
  Error Refuse(std::string_view what) const {
    const auto rest = std::u32string_view(characters_).substr(std::min(at_, characters_.size()));
    return Error{ErrorCode::kUnsupported,
                 Concat("it has ", what, " before ", Quoted(BytesOf(rest.substr(0, 20))))};
  }

  std::size_t Add(const Pattern::Step& step) {
    pattern_.steps_.push_back(step);
    return pattern_.steps_.size() - 1;
  }

  // Creates the steps of `node`, after which `next` follows; returns the first.
  Result<std::size_t> Link(const Node& node, std::size_t next) {
    if (pattern_.steps_.size() > Pattern::kMostSteps) {
      return Error{ErrorCode::kUnsupported,
                   Concat("it has more than ", Pattern::kMostSteps, " steps")};
    }
    switch (node.kind) {
      case Node::Kind::kStep: {
        Pattern::Step step = node.step;
        step.next = next;
        return Add(step);
      }
      case Node::Kind::kSequence: {
        std::size_t first = next;
        for (auto part = node.parts.rbegin(); part != node.parts.rend(); ++part) {
          GPT2_ASSIGN(first, Link(*part, first));
        }
        return first;
      }
      case Node::Kind::kMaybe: {
        GPT2_ASSIGN(const std::size_t first, Link(node.parts[0], next));
        return Add({.kind = Pattern::Step::Kind::kEither, .next = first, .other = next});
      }
      case Node::Kind::kEither: {
        GPT2_ASSIGN(std::size_t first, Link(node.parts.back(), next));
        for (std::size_t i = node.parts.size() - 1; i-- > 0;) {
          GPT2_ASSIGN(const std::size_t one, Link(node.parts[i], next));
          first = Add({.kind = Pattern::Step::Kind::kEither, .next = one, .other = first});
        }
        return first;
      }
    }
    return next;
  }

  Result<Node> ReadAlternatives(std::size_t depth) {
    if (depth > kMostGroups) return Refuse("too many nested groups");
    Node either{.kind = Node::Kind::kEither, .can_be_empty = false};
    do {
      Node sequence;
      while (at_ < characters_.size() && !Has('|') && !Has(')')) {
        GPT2_ASSIGN(Node part, ReadPart(depth));
        sequence.can_be_empty &= part.can_be_empty;
        sequence.parts.push_back(std::move(part));
      }
      either.can_be_empty |= sequence.can_be_empty;
      either.parts.push_back(std::move(sequence));
    } while (Take('|'));
    return either;
  }

  Result<Node> ReadPart(std::size_t depth) {
    if (TakeAll(U"(?!")) return ReadAhead(Pattern::Step::Kind::kNotAhead);
    if (TakeAll(U"(?=")) return ReadAhead(Pattern::Step::Kind::kAhead);
    const bool ignored_case = ignores_case_;
    const bool is_caseless = TakeAll(U"(?i:");
    if (is_caseless || TakeAll(U"(?:")) {
      ignores_case_ |= is_caseless;
      const std::size_t begin = at_;
      GPT2_ASSIGN(Node group, ReadAlternatives(depth + 1));
      if (ignores_case_ && HasLigature(begin)) return Refuse("(?i:) with ss, st, ff, fi or fl");
      ignores_case_ = ignored_case;
      if (!Take(')')) return Refuse("a group without its end");
      if (!Take('?')) {
        if (Has('*') || Has('+') || Has('{')) return Refuse("a repeated group");
        return group;
      }
      if (Has('?') || Has('+')) return Refuse("a lazy or possessive quantifier");
      Node maybe{.kind = Node::Kind::kMaybe};
      maybe.parts.push_back(std::move(group));
      return maybe;
    }
    GPT2_ASSIGN(const std::size_t set, ReadSet());
    Node node{.kind = Node::Kind::kStep};
    node.step = {.kind = Pattern::Step::Kind::kCharacters, .set = set};
    GPT2_TRY(ReadQuantifier(node.step));
    node.can_be_empty = node.step.least == 0;
    return node;
  }

  Result<Node> ReadAhead(Pattern::Step::Kind kind) {
    GPT2_ASSIGN(const std::size_t set, ReadSet());
    if (!Take(')')) return Refuse("a lookahead of more than one character");
    Node node{.kind = Node::Kind::kStep};
    node.step = {.kind = kind, .set = set};
    return node;
  }

  Status ReadQuantifier(Pattern::Step& step) {
    if (Take('?')) {
      step.least = 0;
    } else if (Take('*')) {
      step.least = 0;
      step.most = Pattern::kUnlimited;
    } else if (Take('+')) {
      step.most = Pattern::kUnlimited;
    } else if (Take('{')) {
      GPT2_ASSIGN(step.least, ReadNumber());
      step.most = step.least;
      if (Take(',')) {
        step.most = Pattern::kUnlimited;
        if (!Has('}')) {
          GPT2_ASSIGN(step.most, ReadNumber());
        }
      }
      if (!Take('}') || step.most < step.least || step.most == 0) return Refuse("a bad quantifier");
    } else {
      return Done{};
    }
    if (Has('?') || Has('+')) return Refuse("a lazy or possessive quantifier");
    return Done{};
  }

  Result<std::size_t> ReadNumber() {
    std::size_t number = 0;
    bool has_digits = false;
    while (at_ < characters_.size() && characters_[at_] >= '0' && characters_[at_] <= '9') {
      number = 10 * number + (characters_[at_++] - '0');
      has_digits = true;
      if (number > 1000) return Refuse("a number over 1000");
    }
    if (!has_digits) return Refuse("a quantifier without a number");
    return number;
  }

  // A character, an escape, or [...]: the index of the set.
  Result<std::size_t> ReadSet() {
    Pattern::Set set;
    if (Take('[')) {
      set.is_negated = Take('^');
      if (Has(']')) return Refuse("an empty set");
      while (!Take(']')) {
        if (at_ == characters_.size()) return Refuse("a set without its end");
        if (Has('[') || TakeAll(U"&&")) return Refuse("a set inside a set");
        GPT2_TRY(ReadMember(set, /*is_in_set=*/true));
      }
    } else {
      for (const char32_t special : U"?*+{}^$.()") {
        if (special != 0 && Has(special)) {
          return Refuse(
              Concat("the operator \"", std::string(1, static_cast<char>(special)), "\""));
        }
      }
      GPT2_TRY(ReadMember(set, /*is_in_set=*/false));
    }
    if (ignores_case_) GPT2_TRY(AddCases(set));
    pattern_.sets_.push_back(std::move(set));
    return pattern_.sets_.size() - 1;
  }

  Status ReadMember(Pattern::Set& set, bool is_in_set) {
    if (Take('\\')) {
      bool is_class = false;
      GPT2_TRY(ReadClass(set, is_class));
      if (is_class) return Done{};
    }
    GPT2_ASSIGN(const char32_t first, ReadCharacter());
    char32_t last = first;
    const bool is_range =
        is_in_set && Has('-') && at_ + 1 < characters_.size() && characters_[at_ + 1] != ']';
    if (is_range) {
      ++at_;
      if (Take('\\')) escaped_ = true;
      GPT2_ASSIGN(last, ReadCharacter());
      if (last < first) return Refuse("a range that ends before it begins");
    }
    set.ranges.push_back({first, last});
    return Done{};
  }

  // After a backslash: a class, or an escaped character.
  Status ReadClass(Pattern::Set& set, bool& is_class) {
    is_class = true;
    constexpr struct {
      std::u32string_view name;
      CharacterClass which;
      bool is_negated;
    } kClasses[] = {
        {U"s", CharacterClass::kSpace, false},     {U"S", CharacterClass::kSpace, true},
        {U"p{L}", CharacterClass::kLetter, false}, {U"P{L}", CharacterClass::kLetter, true},
        {U"p{N}", CharacterClass::kNumber, false}, {U"P{N}", CharacterClass::kNumber, true}};
    for (const auto& [name, which, is_negated] : kClasses) {
      if (!TakeAll(name)) continue;
      (is_negated ? set.not_classes : set.classes) |= Pattern::Set::Bit(which);
      // Two negated classes together contain all characters: the representation supports only one
      // at a time.
      if ((set.not_classes & (set.not_classes - 1)) != 0)
        return Refuse("a class and its opposite in one set");
      return Done{};
    }
    is_class = false;
    escaped_ = true;
    return Done{};
  }

  Result<char32_t> ReadCharacter() {
    const bool is_escaped = std::exchange(escaped_, false);
    if (at_ == characters_.size()) return Refuse("a backslash at its end");
    const char32_t character = characters_[at_++];
    if (!is_escaped) return character;
    if (character == 'r') return U'\r';
    if (character == 'n') return U'\n';
    if (character == 't') return U'\t';
    const bool is_word = (character >= '0' && character <= '9') ||
                         ((character | 0x20) >= 'a' && (character | 0x20) <= 'z');
    if (!is_word && character < 0x80) return character;
    --at_;
    return Refuse("an unknown escape");
  }

  // Unicode's simple case folding of ASCII letters: "k" is K and U+212A, "s" is S and U+017F.
  Status AddCases(Pattern::Set& set) {
    const std::size_t count = set.ranges.size();
    for (std::size_t i = 0; i < count; ++i) {
      const auto [first, last] = set.ranges[i];
      if (first != last || first >= 0x80) return Refuse("(?i:) with characters outside ASCII");
      const char32_t lower = first | 0x20;
      if (lower < 'a' || lower > 'z') continue;
      set.ranges.push_back({lower, lower});
      set.ranges.push_back({lower - 0x20, lower - 0x20});
      if (lower == 's') set.ranges.push_back({0x17f, 0x17f});
      if (lower == 'k') set.ranges.push_back({0x212a, 0x212a});
    }
    return Done{};
  }

  // Whether characters_ from `begin` to at_ has two letters that Oniguruma also finds as one
  // character, such as ss in U+00DF.
  bool HasLigature(std::size_t begin) const {
    constexpr std::u32string_view kLigatures[] = {U"ss", U"st", U"ff", U"fi", U"fl"};
    for (std::size_t at = begin; at + 1 < at_; ++at) {
      const char32_t pair[] = {characters_[at] | 0x20, characters_[at + 1] | 0x20};
      for (const std::u32string_view ligature : kLigatures) {
        if (ligature == std::u32string_view(pair, 2)) return true;
      }
    }
    return false;
  }

  static constexpr std::size_t kMostGroups = 16;  // nested in each other

  std::u32string characters_;
  std::size_t at_ = 0;
  bool ignores_case_ = false;
  bool escaped_ = false;
  Pattern pattern_;
};

Result<Pattern> Pattern::Read(std::string_view text) {
  return PatternReader(text).Read();
}

}  // namespace gpt2
