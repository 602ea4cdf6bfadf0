// Steps that change a text.
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/languages/characters.h"
#include "engine/languages/charsmap.h"
#include "engine/languages/pattern.h"
#include "engine/languages/text_steps.h"
#include "engine/languages/unicode_forms.h"
#include "engine/text/aligned_text.h"
#include "engine/text/tokenizer_rules.h"
#include "engine/text/utf8.h"

namespace gpt2 {
namespace {

std::string Without(Trait trait, const std::string& text) {
  std::string kept;
  for (const char32_t character : Characters(text)) {
    if ((TraitsOf(character) & trait) == 0) AppendCharacter(character, kept);
  }
  return kept;
}

class Form final : public TextStep {
 public:
  explicit Form(UnicodeForm form) : form_(form) {}
  Result<std::string> Apply(std::string text) const override { return InForm(form_, text); }

 private:
  UnicodeForm form_;
};

class Lowercase final : public TextStep {
 public:
  Result<std::string> Apply(std::string text) const override { return Lowercased(text); }
};

class StripAccents final : public TextStep {
 public:
  Result<std::string> Apply(std::string text) const override { return Without(kAccent, text); }
};

class Plain final : public TextStep {
 public:
  explicit Plain(Normalizer step) { steps_.push_back(std::move(step)); }
  Result<std::string> Apply(std::string text) const override {
    AlignedText aligned = Align(text, 0, /*has_places=*/false);
    Normalize(steps_, aligned);
    return std::move(aligned.text);
  }
  Status ApplyTo(AlignedText& text) const override {
    Normalize(steps_, text);
    return Done{};
  }

 private:
  std::vector<Normalizer> steps_;
};

class Replace final : public TextStep {
 public:
  Replace(Pattern pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}
  Result<std::string> Apply(std::string text) const override {
    AlignedText aligned = Align(text, 0, /*has_places=*/false);
    GPT2_TRY(ApplyTo(aligned));
    return std::move(aligned.text);
  }
  Status ApplyTo(AlignedText& text) const override {
    std::size_t steps_left = Pattern::StepsFor(text.text);
    AlignedText result = text.Part(0, 0);
    for (std::size_t at = 0;;) {
      GPT2_ASSIGN(const auto match, pattern_.Find(text.text, at, steps_left));
      result.Keep(text, at, match ? match->begin : text.text.size());
      if (!match) break;
      result.Put(content_, text.PlaceOf(match->begin, match->end));
      at = match->end;
    }
    text = std::move(result);
    return Done{};
  }

 private:
  Pattern pattern_;
  std::string content_;
};

class Mapped final : public TextStep {
 public:
  explicit Mapped(CharsMap map) : map_(std::move(map)) {}
  Result<std::string> Apply(std::string text) const override { return map_.Apply(text); }
  // As in `tokenizers`, the first character that is left begins where the text did. Metaspace
  // therefore still finds it at the start.
  Status ApplyTo(AlignedText& text) const override {
    const std::size_t begin = text.PlaceOf(0, 1).begin;
    GPT2_TRY(TextStep::ApplyTo(text));
    const std::size_t first = text.places.empty() ? 0 : ReadUtf8(text.text).size;
    for (std::size_t i = 0; i < first; ++i) text.places[i].begin = begin;
    return Done{};
  }

 private:
  CharsMap map_;
};

class Bert final : public TextStep {
 public:
  explicit Bert(const BertRules& rules) : rules_(rules) {}
  Result<std::string> Apply(std::string text) const override {
    std::string result;
    for (const char32_t character : Characters(text)) {
      const unsigned traits = TraitsOf(character);
      if (rules_.cleans && (character == 0 || (traits & kControl) != 0)) continue;
      if (rules_.cleans && IsWhiteSpace(character)) {
        result += ' ';
      } else if (rules_.spaces_chinese && (traits & kChinese) != 0) {
        result += ' ';
        AppendCharacter(character, result);
        result += ' ';
      } else {
        AppendCharacter(character, result);
      }
    }
    if (rules_.strips_accents) result = Without(kNonspacing, InForm(UnicodeForm::kNfd, result));
    return rules_.lowercases ? Lowercased(result) : result;
  }

 private:
  BertRules rules_;
};

}  // namespace

// A part of the text whose result is a beginning of the rest of the whole result is taken to become
// just that. It begins as one character, and grows until this is so.
Status TextStep::ApplyTo(AlignedText& text) const {
  constexpr std::size_t kMostBytes = 64;  // of a part; longer ones take the rest of the text
  const std::string_view before = text.text;
  GPT2_ASSIGN(const std::string after, Apply(text.text));
  if (after == before) return Done{};
  AlignedText result{.text = {}, .has_places = text.has_places, .places = {}};
  std::size_t begin = 0;
  while (text.has_places && begin < before.size()) {
    std::size_t end = begin;
    std::string part;
    const std::string_view rest = std::string_view(after).substr(result.text.size());
    do {
      end += ReadUtf8(before.substr(end)).size;
      GPT2_ASSIGN(part, Apply(std::string(before.substr(begin, end - begin))));
    } while (!rest.starts_with(part) && end < before.size() && end - begin < kMostBytes);
    if (!rest.starts_with(part)) break;
    result.Put(part, text.PlaceOf(begin, end));
    begin = end;
  }
  result.Put(std::string_view(after).substr(result.text.size()),
             text.PlaceOf(begin, before.size()));
  text = std::move(result);
  return Done{};
}

std::unique_ptr<const TextStep> FormStep(UnicodeForm form) {
  return std::make_unique<Form>(form);
}
std::unique_ptr<const TextStep> LowercaseStep() {
  return std::make_unique<Lowercase>();
}
std::unique_ptr<const TextStep> StripAccentsStep() {
  return std::make_unique<StripAccents>();
}
std::unique_ptr<const TextStep> PlainStep(Normalizer normalizer) {
  return std::make_unique<Plain>(std::move(normalizer));
}
std::unique_ptr<const TextStep> ReplaceStep(Pattern pattern, std::string content) {
  return std::make_unique<Replace>(std::move(pattern), std::move(content));
}
std::unique_ptr<const TextStep> CharsMapStep(CharsMap map) {
  return std::make_unique<Mapped>(std::move(map));
}
std::unique_ptr<const TextStep> BertStep(const BertRules& rules) {
  return std::make_unique<Bert>(rules);
}

}  // namespace gpt2
