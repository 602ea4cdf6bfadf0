#include "engine/generate/token_healer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
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

bool IsOneSpace(std::string_view text) {
  const Utf8Character character = ReadUtf8(text);
  return character.size == text.size() && character.code_point != kInvalidCodePoint &&
         ClassOf(character.code_point) == CharacterClass::kSpace;
}

bool EndsInSpace(std::string_view text) {
  for (std::size_t size = 1; size <= std::min<std::size_t>(text.size(), 3); ++size) {
    if (IsOneSpace(text.substr(text.size() - size))) return true;
  }
  return false;
}

}  // namespace

bool TokenHealer::IsText(std::int32_t id) const {
  return !tokenizer_->TokenBytes(id).empty() && id != eos_ && !tokenizer_->IsAdded(id);
}

// A token that begins with no white space, if possible one that does not merge with a space before
// it: in GPT-2's vocabulary, control characters.
std::string TokenHealer::Word() const {
  std::string word;
  for (std::size_t i = 0; i < tokenizer_->vocab_size(); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    const std::string_view bytes = tokenizer_->TokenBytes(id);
    if (!IsText(id) || IsOneSpace(bytes.substr(0, ReadUtf8(bytes).size))) continue;
    word = bytes;
    if (!ShortText(*tokenizer_, " " + word).UpTo(1).empty()) break;
  }
  return word;
}

// Texts that may change how the last word of `text` is cut. What follows a word's own characters
// cannot change its tokens: if they are the first tokens of a longer word, they are the word's.
std::vector<std::string> TokenHealer::Following(std::string_view text) const {
  // White space is cut before its last character where a word follows it.
  if (EndsInSpace(text)) return {Word()};
  const std::string_view last = text.substr(text.size() - std::min<std::size_t>(text.size(), 2));
  if (last == "'l") return {"l"};
  if (last == "'r" || last == "'v") return {"e"};
  // Some characters of each class that begin with an incomplete one.
  const std::size_t tail = IncompleteUtf8Tail(text);
  if (tail == 0) return {};
  const std::string_view begun = text.substr(text.size() - tail);
  const auto lead = static_cast<unsigned char>(begun[0]);
  std::string rest((lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4) - tail, '\x80');
  std::vector<std::string> following;
  for (int i = 0; i < 256; ++i) {
    rest.back() = static_cast<char>(0x80 + i % 4 * 16);
    rest.front() = static_cast<char>(0x80 + i / 4);
    following.push_back(rest);
    if (EndsInSpace(std::string(begun) + rest)) following.push_back(rest + Word());
  }
  return following;
}

// The tokens before token `id` in texts that begin with `before` and the token, until `take`
// returns true. Returns whether it did.
bool TokenHealer::TakeTokensBefore(
    std::string_view before, std::int32_t id,
    FunctionRef<bool(const std::vector<std::int32_t>& tokens)> take) const {
  const std::string text = std::string(before).append(tokenizer_->TokenBytes(id));
  const auto take_before = [&](const std::string& following) {
    const ShortText whole(*tokenizer_, text + following);
    const std::span<const std::int32_t> tokens = whole.UpTo(text.size());
    return !tokens.empty() && tokens.back() == id && take({tokens.begin(), tokens.end() - 1});
  };
  return take_before("") || std::ranges::any_of(Following(text), take_before);
}

std::string TokenHealer::TextOf(std::span<const std::int32_t> ids) const {
  std::string text;
  for (const std::int32_t id : ids) text += tokenizer_->TokenBytes(id);
  return text;
}

// Whatever follows, some token of the whole text contains the prompt's last byte: the last token of
// a cover. It can begin at each byte of the last two words. The tokens before it are the same for
// every such token, unless it begins inside a character: what follows may change that character's
// class, or cut white space before it.
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

  std::map<std::vector<std::int32_t>, std::vector<std::int32_t>> found;  // last tokens of covers
  std::size_t kept = end.size() - 1;
  for (std::size_t start = 0; start < text.size(); ++start) {
    const std::string_view rest = std::string_view(text).substr(start);
    std::set<std::vector<std::int32_t>> befores;
    std::vector<std::int32_t> last;
    const bool is_inside_character = (static_cast<unsigned char>(rest[0]) & 0xc0) == 0x80;
    const auto take = [&](const std::vector<std::int32_t>& tokens) {
      befores.insert(tokens);
      return !is_inside_character;
    };
    for (std::size_t i = 0; i < tokenizer_->vocab_size(); ++i) {
      const auto id = static_cast<std::int32_t>(i);
      if (!tokenizer_->TokenBytes(id).starts_with(rest) || !IsText(id)) continue;
      last.push_back(id);
      if (!befores.empty() && !is_inside_character) continue;
      TakeTokensBefore(std::string_view(text).substr(0, start), id, take);
    }
    for (const std::vector<std::int32_t>& before : befores) {
      const auto common = std::ranges::mismatch(before, end).in2 - end.begin();
      kept = std::min(kept, static_cast<std::size_t>(common));
      found[before] = last;
    }
  }
  Healing healing;
  healing.tokens = end.size() - kept;
  healing.bytes = TextOf(end.last(healing.tokens));
  healing.before.assign(end.begin(), end.end() - static_cast<std::ptrdiff_t>(healing.tokens));
  for (auto& [before, last] : found) {
    std::vector beginning(before.begin() + static_cast<std::ptrdiff_t>(kept), before.end());
    std::vector<std::int32_t>& ends = healing.beginnings[beginning].next;
    ends.insert(ends.end(), last.begin(), last.end());
    while (!beginning.empty()) {
      const std::int32_t id = beginning.back();
      beginning.pop_back();
      std::vector<std::int32_t>& next = healing.beginnings[beginning].next;
      if (std::ranges::find(next, id) == next.end()) next.push_back(id);
    }
  }
  return healing;
}

bool TokenHealer::Admits(const Healing& healing, const std::vector<std::int32_t>& beginning,
                         std::int32_t id) const {
  std::vector<std::int32_t> ids = beginning;
  ids.push_back(id);
  if (healing.beginnings.contains(ids)) return true;
  ids.pop_back();
  ids.insert(ids.begin(), healing.before.begin(), healing.before.end());
  return TakeTokensBefore(TextOf(ids), id,
                          [&](const std::vector<std::int32_t>& tokens) { return tokens == ids; });
}

Covers WeighCovers(const Compute& compute, Healing& healing) {
  Covers all;
  for (auto& [ids, beginning] : healing.beginnings) {  // a beginning comes before longer ones
    const LogSoftmax logprob(compute, beginning.logits);
    std::vector<std::int32_t> longer = ids;
    longer.push_back(0);
    for (const std::int32_t id : beginning.next) {
      const double sum =
          beginning.logprob + logprob.Exact(beginning.logits[static_cast<std::size_t>(id)]);
      longer.back() = id;
      const auto found = healing.beginnings.find(longer);
      if (found != healing.beginnings.end()) {
        found->second.logprob = sum;
      } else {
        all.covers.push_back({.beginning = &ids, .last = id});
        all.logprobs.push_back(sum);
      }
    }
  }
  return all;
}

}  // namespace gpt2
