#include "engine/text/added_tokens.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/text/tokenizer_rules.h"
#include "engine/text/unicode_class.h"
#include "engine/text/utf8.h"

namespace gpt2 {
namespace {

// The last character of non-empty `text`.
Utf8Character LastCharacter(std::string_view text) {
  std::size_t size = 1;
  while (size < 4 && size < text.size() && (text[text.size() - size] & 0xc0) == 0x80) ++size;
  for (; size > 1; --size) {
    const Utf8Character character = ReadUtf8(text.substr(text.size() - size));
    if (character.size == size) return character;
  }
  return ReadUtf8(text.substr(text.size() - 1));
}

bool IsSpace(const Utf8Character& character) {
  return character.code_point != kInvalidCodePoint &&
         ClassOf(character.code_point) == CharacterClass::kSpace;
}

bool IsWord(const Utf8Character& character) {
  return character.code_point != kInvalidCodePoint && IsWordCharacter(character.code_point);
}

}  // namespace

std::size_t SpaceAtBegin(std::string_view text) {
  std::size_t size = 0;
  while (size < text.size()) {
    const Utf8Character character = ReadUtf8(text.substr(size));
    if (!IsSpace(character)) break;
    size += character.size;
  }
  return size;
}

std::size_t SpaceAtEnd(std::string_view text) {
  std::size_t size = 0;
  while (size < text.size()) {
    const Utf8Character character = LastCharacter(text.substr(0, text.size() - size));
    if (!IsSpace(character)) break;
    size += character.size;
  }
  return size;
}

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) {
  // Normalization may make contents equal: `tokenizers` finds the first, and special ones first.
  const auto is_before = [](const AddedToken* a, const AddedToken* b) {
    return std::tie(a->content, b->is_special, a) < std::tie(b->content, a->is_special, b);
  };
  std::vector<AddedToken*> sorted;
  sorted.reserve(tokens.size());
  for (AddedToken& token : tokens) sorted.push_back(&token);
  // By heap sort: a quarter of the code of std::sort.
  std::make_heap(sorted.begin(), sorted.end(), is_before);
  std::sort_heap(sorted.begin(), sorted.end(), is_before);
  for (AddedToken* const token : sorted) {
    if (!tokens_.empty() && tokens_.back().content == token->content) continue;
    begins_[static_cast<unsigned char>(token->content[0])] = true;
    tokens_.push_back(std::move(*token));
  }
}

// The tokens that are prefixes of `text` are in a range that each of its bytes narrows.
const AddedToken* AddedTokens::LongestAt(std::string_view text) const {
  auto first = tokens_.begin();
  auto last = tokens_.end();
  const AddedToken* longest = nullptr;
  for (std::size_t i = 0; first != last; ++i) {
    // The shortest comes first. All contents differ, so the others are longer.
    if (first->content.size() == i) longest = &*first++;
    if (i == text.size()) break;
    const auto byte = static_cast<unsigned char>(text[i]);
    first = std::partition_point(first, last, [&](const AddedToken& token) {
      return static_cast<unsigned char>(token.content[i]) < byte;
    });
    last = std::partition_point(first, last, [&](const AddedToken& token) {
      return static_cast<unsigned char>(token.content[i]) == byte;
    });
  }
  return longest;
}

std::optional<AddedTokens::Match> AddedTokens::Find(std::string_view text, std::size_t from) const {
  for (std::size_t at = from; at < text.size(); ++at) {
    if (!begins_[static_cast<unsigned char>(text[at])]) continue;
    const AddedToken* const token = LongestAt(text.substr(at));
    if (token != nullptr) return Match{at, at + token->content.size(), token};
  }
  return std::nullopt;
}

bool AddedTokenCutter::IsWanted(const AddedTokens::Match& match) const {
  if (match.token->is_special && !takes_special_) return false;
  if (!match.token->is_single_word) return true;
  const bool is_in_word =
      (match.begin > 0 && IsWord(LastCharacter(text_.substr(0, match.begin)))) ||
      (match.end < text_.size() && IsWord(ReadUtf8(text_.substr(match.end))));
  return !is_in_word;
}

AddedTokenCutter::Cut AddedTokenCutter::Next() {
  while (const auto match = tokens_->Find(text_, search_)) {
    search_ = match->end;
    if (!IsWanted(*match)) continue;
    // All of it is white space that the token before has taken: `tokenizers` drops empty pieces.
    if (match->token->strips_left && match->end <= cut_) continue;
    std::size_t begin = match->begin;
    // The token before may already have taken this white space, and more.
    if (match->token->strips_left && cut_ <= begin) {
      begin -= SpaceAtEnd(text_.substr(cut_, begin - cut_));
    }
    begin = std::max(begin, cut_);
    const std::string_view before = text_.substr(cut_, begin - cut_);
    cut_ = match->end;
    if (match->token->strips_right) {
      if (cut_ > space_end_) space_end_ = cut_ + SpaceAtBegin(text_.substr(cut_));
      cut_ = space_end_;
    }
    return {before, match->token->id, {begin, std::max(begin, cut_)}};
  }
  is_done_ = true;
  const std::string_view rest = text_.substr(cut_);
  cut_ = search_ = text_.size();
  return {rest, std::nullopt, {cut_, cut_}};
}

}  // namespace gpt2
