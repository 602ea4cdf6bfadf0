#include "engine/generate/token_healer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/text/encoding.h"
#include "engine/text/pre_tokenizer.h"
#include "engine/text/tokenizer.h"
#include "engine/text/unicode_class.h"
#include "engine/text/utf8.h"

namespace gpt2 {
namespace {

// The tokens of a short text: the end of a prompt, and one more token.
class ShortText {
 public:
  // Empty if the vocabulary lacks one of its bytes.
  ShortText(const Tokenizer& tokenizer, std::string_view text) {
    const Result<std::size_t> size =
        Encoding(tokenizer, text, SpecialTokens::kAsText).Next(tokens_);
    if (size.ok()) size_ = size.value();
  }
  std::span<const std::int32_t> tokens() const { return std::span(tokens_).first(size_); }

  // The number of tokens that equal those of `ids`, from the first on.
  std::size_t InCommon(std::span<const std::int32_t> ids) const {
    std::size_t common = 0;
    while (common < std::min(size_, ids.size()) && tokens_[common] == ids[common]) ++common;
    return common;
  }

 private:
  std::array<std::int32_t, 4 * TokenHealer::kMostBytes> tokens_;
  std::size_t size_ = 0;
};

bool IsOneSpace(std::string_view text) {
  const Utf8Character character = ReadUtf8(text);
  return character.size == text.size() && character.code_point != kInvalidCodePoint &&
         ClassOf(character.code_point) == CharacterClass::kSpace;
}

}  // namespace

bool TokenHealer::IsText(std::int32_t id) const {
  return !tokenizer_->TokenBytes(id).empty() && id != eos_ && !tokenizer_->IsAdded(id);
}

// Whatever follows, some token of the whole text contains the prompt's last byte. The tokens before
// it are those of the text before it. So the places where such a token can begin determine which
// tokens of the prompt may change.
Healing TokenHealer::TakeBack(std::span<const std::int32_t> ids) const {
  if (!tokenizer_->HasGpt2Rules()) return {};
  const auto text_of = [this](std::span<const std::int32_t> tokens) {
    std::string text;
    for (const std::int32_t id : tokens) text += tokenizer_->TokenBytes(id);
    return text;
  };
  std::span<const std::int32_t> end = ids.last(std::min(ids.size(), kMostTokens));
  for (std::size_t i = end.size(); i > 0; --i) {
    if (IsText(end[i - 1])) continue;
    end = end.subspan(i);
    break;
  }
  std::string text = text_of(end);
  while (text.size() > kMostBytes || ShortText(*tokenizer_, text).InCommon(end) < end.size()) {
    end = end.subspan(1);
    text = text_of(end);
  }
  if (end.empty()) return {};

  // A token is part of a word. What follows may make one of the last two: "'" and "l" of "'ll".
  std::size_t last_word = 0, last_words = 0;
  for (std::size_t at = 0; at < text.size();) {
    last_words = last_word;
    last_word = at;
    at += FirstWordSize(std::string_view(text).substr(at));
  }
  std::size_t kept = end.size() - 1;
  for (std::size_t start = last_words; start < text.size(); ++start) {
    const std::string_view before = std::string_view(text).substr(0, start);
    const std::string_view beginning = std::string_view(text).substr(start);
    // White space is cut before its last character where a word follows it. Of that character's
    // tokens only the last holds the prompt's last byte.
    if (IsOneSpace(beginning)) {
      const ShortText earlier(*tokenizer_, before), space(*tokenizer_, beginning);
      std::size_t same = earlier.InCommon(end);
      if (same == earlier.tokens().size()) {
        same += std::min(space.InCommon(end.subspan(same)), space.tokens().size() - 1);
      }
      kept = std::min(kept, same);
    }
    for (std::size_t i = 0; i < tokenizer_->vocab_size(); ++i) {
      const auto id = static_cast<std::int32_t>(i);
      const std::string_view bytes = tokenizer_->TokenBytes(id);
      if (!bytes.starts_with(beginning) || !IsText(id)) continue;
      const ShortText whole(*tokenizer_, std::string(before).append(bytes));
      if (whole.tokens().empty() || whole.tokens().back() != id) continue;
      // The tokens before it are the same for every such token.
      kept = std::min({kept, whole.InCommon(end), whole.tokens().size() - 1});
      break;
    }
  }
  end = end.subspan(kept);
  return {end.size(), text_of(end)};
}

void TokenHealer::Allow(std::string_view bytes, std::span<const float> logits,
                        std::vector<float>& allowed) const {
  allowed.assign(logits.begin(), logits.end());
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    const std::string_view token = tokenizer_->TokenBytes(id);
    const std::size_t common = std::min(token.size(), bytes.size());
    if (token.substr(0, common) == bytes.substr(0, common) && IsText(id)) continue;
    allowed[i] = -std::numeric_limits<float>::infinity();
  }
}

}  // namespace gpt2
