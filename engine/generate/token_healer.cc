#include "engine/generate/token_healer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/function_ref.h"
#include "engine/base/result.h"
#include "engine/generate/log_softmax.h"
#include "engine/text/encoding.h"
#include "engine/text/pre_tokenizer.h"
#include "engine/text/text_encoder.h"
#include "engine/text/tokenizer.h"
#include "engine/text/unicode_class.h"
#include "engine/text/utf8.h"

namespace gpt2 {
namespace {

// The tokens of a short text: the end of a prompt, one more token, and what may follow.
class ShortText {
 public:
  // Empty if the vocabulary lacks one of its bytes.
  ShortText(const Tokenizer& tokenizer, std::string_view text) : tokenizer_(&tokenizer) {
    const Result<std::size_t> size =
        Encoding(tokenizer, text, SpecialTokens::kAsText).Next(tokens_);
    if (size.ok()) size_ = size.value();
  }

  // The tokens of its first `size` bytes; none if no token ends there.
  std::span<const std::int32_t> UpTo(std::size_t size) const {
    std::size_t count = 0, end = 0;
    while (count < size_ && end < size) end += tokenizer_->TokenBytes(tokens_[count++]).size();
    return std::span(tokens_).first(end == size ? count : 0);
  }

 private:
  const Tokenizer* tokenizer_;
  std::array<std::int32_t, 4 * TokenHealer::kMostBytes> tokens_;
  std::size_t size_ = 0;
};

// Whether what follows `text` may change where its last words begin. White space is cut before its
// last character where a word follows it. "'l" may become "'ll", and an incomplete character one of
// any class.
bool IsOpen(std::string_view text) {
  std::size_t last = text.size() - 1;
  while (last > 0 && (text[last] & 0xc0) == 0x80) --last;
  return IncompleteUtf8Tail(text) > 0 || (text.size() > 1 && text[text.size() - 2] == '\'') ||
         ClassOf(ReadUtf8(text.substr(last)).code_point) == CharacterClass::kSpace;
}

}  // namespace

std::size_t Healing::Longest() const {
  std::size_t longest = 0;
  for (const auto& [ids, beginning] : beginnings) {
    longest = std::max(longest, ids.size() - Kept().size());
  }
  return longest;
}

bool TokenHealer::IsText(std::int32_t id) const {
  return !tokenizer_->TokenBytes(id).empty() && id != eos_ && !tokenizer_->IsAdded(id);
}

bool TokenHealer::BeginsWith(std::int32_t id, std::string_view bytes) const {
  return tokenizer_->TokenBytes(id).starts_with(bytes) && IsText(id);
}

// Takes the tokens before token `id` in texts that begin with `before` and the token, until `take`
// returns true. Returns whether it did.
//
// The text alone nearly always suffices. If a token of a word ends at a byte, no merge crosses that
// place. So none does in the bytes before it, and they have the same tokens. Only where what
// follows can cut the words elsewhere do others matter. We try each byte after the text, also with
// one or two more, because a character may lack three. This misses tokens only if they merge with
// all such bytes.
bool TokenHealer::TakeTokensBefore(std::string_view before, std::int32_t id,
                                   FunctionRef<bool(const Healing::Tokens& tokens)> take) const {
  const std::string text = std::string(before).append(tokenizer_->TokenBytes(id));
  const auto take_with = [&](const std::string& following) {
    const ShortText whole(*tokenizer_, text + following);
    const std::span<const std::int32_t> tokens = whole.UpTo(text.size());
    return !tokens.empty() && tokens.back() == id && take({tokens.begin(), tokens.end() - 1});
  };
  if (take_with("")) return true;
  if (!IsOpen(text)) return false;
  for (int i = 0; i < 3 * 256; ++i) {
    if (take_with(std::string(1, static_cast<char>(i)) + std::string(i / 256, '\x80'))) return true;
  }
  return false;
}

std::string TokenHealer::TextOf(std::span<const std::int32_t> ids) const {
  std::string text;
  for (const std::int32_t id : ids) text += tokenizer_->TokenBytes(id);
  return text;
}

// Whatever follows, some token of the whole text contains the prompt's last byte: the last token of
// a cover. It can begin at each byte of the last two words. The tokens before it are the same for
// every such token, unless it begins inside a character. Then what follows may change the class of
// that character, or cut white space before it.
Healing TokenHealer::TakeBack(std::span<const std::int32_t> ids) const {
  if (!tokenizer_->HasGpt2Rules()) return {};
  std::span<const std::int32_t> end = ids.last(std::min(ids.size(), kMostTokens));
  for (std::size_t i = end.size(); i > 0; --i) {
    if (IsText(end[i - 1])) continue;
    end = end.subspan(i);
    break;
  }
  std::string text = TextOf(end);
  while (text.size() > kMostBytes ||
         !std::ranges::equal(ShortText(*tokenizer_, text).UpTo(text.size()), end)) {
    end = end.subspan(1);
    text = TextOf(end);
  }
  if (end.empty()) return {};

  // A token is part of a word. What follows may make one of the last two: "'" and "l" of "'ll".
  std::size_t last_word = 0, last_words = 0;
  for (std::size_t at = 0; at < text.size();) {
    last_words = last_word;
    last_word = at;
    at += FirstWordSize(std::string_view(text).substr(at));
  }
  for (std::size_t size = 0; size < last_words; end = end.subspan(1)) {
    size += tokenizer_->TokenBytes(end[0]).size();
  }
  text.erase(0, last_words);

  Healing healing;
  std::size_t kept = end.size() - 1;
  for (std::size_t start = 0; start < text.size(); ++start) {
    const std::string_view rest = std::string_view(text).substr(start);
    const bool is_inside_character = (rest[0] & 0xc0) == 0x80;
    const auto take = [&](const Healing::Tokens& tokens) {
      const auto common = std::ranges::mismatch(tokens, end).in2 - end.begin();
      kept = std::min(kept, static_cast<std::size_t>(common));
      healing.beginnings[tokens].has_covers = true;
      return !is_inside_character;
    };
    for (std::size_t i = 0; i < tokenizer_->vocab_size(); ++i) {
      const auto id = static_cast<std::int32_t>(i);
      if (!BeginsWith(id, rest)) continue;
      if (TakeTokensBefore(std::string_view(text).substr(0, start), id, take)) break;
    }
  }
  for (const auto& [tokens, beginning] : healing.beginnings) {
    for (std::size_t size = kept; size < tokens.size(); ++size) {
      healing.beginnings[{tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(size)}];
    }
  }
  healing.tokens = end.size() - kept;
  healing.bytes = TextOf(end.subspan(kept));
  healing.text = std::move(text);
  return healing;
}

void TokenHealer::Weigh(const Healing::Tokens& beginning, std::span<const float> logits,
                        const LogSoftmax& logprob, Healing& healing) const {
  const auto found = healing.beginnings.find(beginning);
  if (std::exchange(found->second.is_weighed, true)) return;
  const auto sum = [&](std::int32_t id) {
    return found->second.logprob + logprob.Exact(logits[static_cast<std::size_t>(id)]);
  };
  for (auto& [longer, other] : healing.beginnings) {
    const bool is_next = longer.size() == beginning.size() + 1 &&
                         std::equal(beginning.begin(), beginning.end(), longer.begin());
    if (is_next) other.logprob = sum(longer.back());
  }
  const std::string rest = healing.text.substr(TextOf(beginning).size());
  for (std::size_t i = 0; i < tokenizer_->vocab_size() && found->second.has_covers; ++i) {
    const auto id = static_cast<std::int32_t>(i);
    if (!BeginsWith(id, rest)) continue;
    healing.covers.push_back({.beginning = &found->first, .last = id});
    healing.logprobs.push_back(sum(id));
  }
}

bool TokenHealer::Admits(const Healing& healing, const Healing::Tokens& beginning,
                         std::int32_t id) const {
  Healing::Tokens longer = beginning;
  longer.push_back(id);
  const std::string before = TextOf(beginning);
  return healing.beginnings.contains(longer) ||
         (BeginsWith(id, std::string_view(healing.text).substr(before.size())) &&
          TakeTokensBefore(before, id, [&](const auto& tokens) { return tokens == beginning; }));
}

}  // namespace gpt2
