#include "engine/languages/pattern.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/languages/characters.h"
#include "engine/text/unicode_class.h"
#include "engine/text/utf8.h"

namespace gpt2 {
namespace {

constexpr std::size_t kStepsPerByte = 256;  // of a text, and kMostSteps * kStepsPerByte more

struct Backtrack {
  std::size_t step;
  std::size_t least;  // in bytes: the match may go on at each character from `least` to `at`
  std::size_t at;
};

Utf8Character CharacterAt(std::string_view text, std::size_t at) {
  Utf8Character character = ReadUtf8(text.substr(at));
  if (character.code_point == kInvalidCodePoint) {
    character.size = 1;
    character.code_point = kFirstByte + static_cast<unsigned char>(text[at]);
  }
  return character;
}

// The start of the character before `at`, also for bytes that are no character.
std::size_t Before(std::string_view text, std::size_t at) {
  for (std::size_t size = 4; size > 1; --size) {
    if (size <= at && CharacterAt(text, at - size).size == size) return at - size;
  }
  return at - 1;
}

}  // namespace

bool Pattern::Set::Has(char32_t character) const {
  const unsigned bit = Bit(character < kFirstByte ? ClassOf(character) : CharacterClass::kOther);
  bool has = (classes & bit) != 0 || (not_classes & ~bit) != 0;
  for (const Range& range : ranges) has |= range.first <= character && character <= range.last;
  return has != is_negated;
}

// Takes the first alternative, and as many characters as possible. It notes the other choices, and
// tries them from the last on when a step fails.
Result<std::optional<std::size_t>> Pattern::MatchAt(std::string_view text, std::size_t from,
                                                    std::size_t& steps_left) const {
  std::vector<Backtrack> others;
  std::size_t step_index = start_;
  std::size_t at = from;
  while (true) {
    if (steps_left == 0) {
      return Error{ErrorCode::kUnsupported, "the tokenizer's regular expression takes too long"};
    }
    --steps_left;
    const Step& step = steps_[step_index];
    bool fits = true;
    std::size_t next = step.next;
    switch (step.kind) {
      case Step::Kind::kEnd:
        return std::optional(at);
      case Step::Kind::kEither:
        others.push_back({step.other, at, at});
        break;
      case Step::Kind::kAhead:
      case Step::Kind::kNotAhead: {
        const bool is_there =
            at < text.size() && sets_[step.set].Has(CharacterAt(text, at).code_point);
        fits = is_there == (step.kind == Step::Kind::kAhead);
        break;
      }
      case Step::Kind::kCharacters: {
        std::size_t count = 0;
        std::size_t least = step.least == 0 ? at : kUnlimited;
        while (at < text.size() && count < step.most) {
          const Utf8Character character = CharacterAt(text, at);
          if (!sets_[step.set].Has(character.code_point)) break;
          at += character.size;
          if (++count == step.least) least = at;
        }
        fits = count >= step.least;
        steps_left -= std::min(steps_left, count);
        if (fits && at > least) others.push_back({next, least, Before(text, at)});
        break;
      }
    }
    if (fits) {
      step_index = next;
      continue;
    }
    if (others.empty()) return std::optional<std::size_t>();
    Backtrack& last = others.back();
    step_index = last.step;
    at = last.at;
    if (last.at > last.least) {
      last.at = Before(text, last.at);
    } else {
      others.pop_back();
    }
  }
}

std::size_t Pattern::StepsFor(std::string_view text) {
  return (text.size() + kMostSteps) * kStepsPerByte;
}

Result<std::optional<Pattern::Match>> Pattern::Find(std::string_view text, std::size_t from,
                                                    std::size_t& steps_left) const {
  for (std::size_t at = from; at < text.size(); at += CharacterAt(text, at).size) {
    GPT2_ASSIGN(const auto end, MatchAt(text, at, steps_left));
    if (end) return std::optional(Match{at, *end});
  }
  return std::optional<Match>();
}

}  // namespace gpt2
