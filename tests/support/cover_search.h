// The covers of a healed prompt's end, found without the healer: see Healing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/generate/token_healer.h"
#include "engine/text/tokenizer.h"

namespace gpt2::testing {

// The last tokens of covers, by the tokens before them.
using FoundCovers = std::map<std::vector<std::int32_t>, std::set<std::int32_t>>;

// All texts of at most `most` bytes of `alphabet`.
inline std::vector<std::string> Texts(const std::string& alphabet, std::size_t most) {
  std::vector<std::string> texts = {""};
  for (std::size_t i = 0; i < texts.size() && texts[i].size() < most; ++i) {
    for (const char c : alphabet) texts.push_back(texts[i] + c);
  }
  return texts;
}

// Texts that may follow a prompt: all short ones, and the rest of each token with one more byte.
inline std::set<std::string> TextsThatFollow(const Tokenizer& tokenizer,
                                             const std::string& alphabet) {
  std::set<std::string> following;
  for (const std::string& text : Texts(alphabet, 3)) following.insert(text);
  for (std::int32_t id = 0; id < static_cast<std::int32_t>(tokenizer.vocab_size()); ++id) {
    if (id == tokenizer.end_of_text()) continue;
    const std::string bytes(tokenizer.TokenBytes(id));
    for (std::size_t i = 1; i < bytes.size(); ++i) {
      for (const std::string& text : Texts(alphabet, 1)) following.insert(bytes.substr(i) + text);
    }
  }
  return following;
}

// Encodes `prompt` and each text of `following`. Finds the tokens after the first `kept`, up to the
// one that has the last byte of `prompt`.
inline FoundCovers SearchCovers(const Tokenizer& tokenizer, const std::string& prompt,
                                std::size_t kept, const std::set<std::string>& following) {
  FoundCovers found;
  for (const std::string& text : following) {
    const auto ids = tokenizer.Encode(prompt + text, SpecialTokens::kAsText).value();
    std::size_t size = 0, last = 0;
    while ((size += tokenizer.TokenBytes(ids[last]).size()) < prompt.size()) ++last;
    const auto begin = ids.begin() + static_cast<std::ptrdiff_t>(kept);
    found[{begin, ids.begin() + static_cast<std::ptrdiff_t>(last)}].insert(ids[last]);
  }
  return found;
}

// The covers that the healer admits.
inline FoundCovers AdmittedCovers(const Tokenizer& tokenizer, const TokenHealer& healer,
                                  const Healing& healing) {
  FoundCovers found;
  const std::size_t kept = healing.Kept().size();
  for (auto [ids, beginning] : healing.beginnings) {
    for (std::int32_t id = 0; id < static_cast<std::int32_t>(tokenizer.vocab_size()); ++id) {
      auto longer = ids;
      longer.push_back(id);
      if (healing.beginnings.contains(longer) || !healer.Admits(healing, ids, id)) continue;
      found[{ids.begin() + static_cast<std::ptrdiff_t>(kept), ids.end()}].insert(id);
    }
  }
  return found;
}

}  // namespace gpt2::testing
