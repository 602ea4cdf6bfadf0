// Steps that change a text.
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/languages/characters.h"
#include "engine/languages/charsmap.h"
#include "engine/languages/pattern.h"
#include "engine/languages/text_steps.h"
#include "engine/languages/unicode_forms.h"
#include "engine/text/tokenizer_rules.h"

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
  Result<std::string> Apply(std::string text) const override { return Normalize(steps_, text); }

 private:
  std::vector<Normalizer> steps_;
};

class Replace final : public TextStep {
 public:
  Replace(Pattern pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}
  Result<std::string> Apply(std::string text) const override {
    std::size_t steps_left = Pattern::StepsFor(text);
    std::string result;
    std::size_t at = 0;
    while (true) {
      GPT2_ASSIGN(const auto match, pattern_.Find(text, at, steps_left));
      result.append(text, at, (match ? match->begin : text.size()) - at);
      if (!match) return result;
      result += content_;
      at = match->end;
    }
  }

 private:
  Pattern pattern_;
  std::string content_;
};

class Mapped final : public TextStep {
 public:
  explicit Mapped(CharsMap map) : map_(std::move(map)) {}
  Result<std::string> Apply(std::string text) const override { return map_.Apply(text); }

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
