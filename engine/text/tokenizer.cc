#include "engine/text/tokenizer.h"

#include <algorithm>
#include <queue>

#include "engine/text/byte_alphabet.h"
#include "engine/text/pre_tokenizer.h"
#include "engine/text/quoted.h"

namespace gpt2 {

Result<Tokenizer> Tokenizer::Create(std::span<const std::string> tokens,
                                    std::span<const std::pair<std::string, std::string>> merges) {
  Tokenizer tokenizer;
  tokenizer.byte_tokens_.fill(-1);
  std::unordered_map<std::string_view, std::int32_t> ids;
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    const auto index = static_cast<std::int32_t>(id);
    // A token outside the alphabet is a special one and stands for its own spelling.
    std::string bytes = BytesFromAlphabet(tokens[id]).value_or(tokens[id]);
    if (tokens[id] == kEndOfText) tokenizer.end_of_text_ = index;
    if (!tokens[id].empty() && !ids.emplace(tokens[id], index).second) {
      return Error{ErrorCode::kCorrupt,
                   "vocab.json: the token " + Quoted(tokens[id]) + " stands twice"};
    }
    if (bytes.size() == 1) tokenizer.byte_tokens_[static_cast<unsigned char>(bytes[0])] = index;
    tokenizer.bytes_.push_back(std::move(bytes));
  }
  for (std::size_t rank = 0; rank < merges.size(); ++rank) {
    const auto& [left, right] = merges[rank];
    const auto find = [&](const std::string& token) { return ids.find(token); };
    const std::string whole = left + right;
    for (const std::string& token : {left, right, whole}) {
      if (find(token) != ids.end()) continue;
      return Error{ErrorCode::kCorrupt, "merges.txt: merge " + std::to_string(rank + 1) + " " +
                                            Quoted(left + " " + right) + " needs the token " +
                                            Quoted(token) + ", which vocab.json does not have"};
    }
    tokenizer.merges_.emplace(PairKey(find(left)->second, find(right)->second),
                              Merge{static_cast<std::uint32_t>(rank), find(whole)->second});
  }
  return tokenizer;
}

Result<std::vector<std::int32_t>> Tokenizer::Encode(std::string_view text,
                                                    SpecialTokens special) const {
  std::vector<std::int32_t> ids;
  if (special == SpecialTokens::kAllowed && end_of_text_) {
    std::size_t found;
    while ((found = text.find(kEndOfText)) != std::string_view::npos) {
      GPT2_TRY(EncodeText(text.substr(0, found), ids));
      ids.push_back(*end_of_text_);
      text.remove_prefix(found + kEndOfText.size());
    }
  }
  GPT2_TRY(EncodeText(text, ids));
  return ids;
}

Status Tokenizer::EncodeText(std::string_view text, std::vector<std::int32_t>& ids) const {
  std::vector<std::int32_t> symbols;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, FirstWordSize(text));
    text.remove_prefix(word.size());
    symbols.clear();
    for (const char c : word) {
      const std::int32_t token = byte_tokens_[static_cast<unsigned char>(c)];
      if (token < 0) {
        return Error{ErrorCode::kInvalidArgument,
                     "the vocabulary has no token for byte " +
                         std::to_string(static_cast<unsigned char>(c))};
      }
      symbols.push_back(token);
    }
    MergePairs(symbols, ids);
  }
  return Done{};
}

// Applies the merge of lowest rank, leftmost first, until none applies. Symbols form a linked list,
// and candidate pairs wait in a heap, so that a word of n bytes takes n log n steps; a candidate is
// stale when one of its symbols has changed since.
void Tokenizer::MergePairs(std::span<std::int32_t> symbols, std::vector<std::int32_t>& ids) const {
  constexpr std::int32_t kGone = -1;
  struct Candidate {
    std::uint32_t rank;
    std::uint32_t left;  // index of the left symbol
    std::int32_t left_symbol, right_symbol, merged;
    bool operator>(const Candidate& other) const {
      return rank != other.rank ? rank > other.rank : left > other.left;
    }
  };
  const std::size_t size = symbols.size();
  std::vector<std::uint32_t> next(size), previous(size);
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates;
  const auto consider = [&](std::uint32_t left) {
    const std::uint32_t right = next[left];
    if (right >= size) return;
    const auto merge = merges_.find(PairKey(symbols[left], symbols[right]));
    if (merge == merges_.end()) return;
    candidates.push(
        {merge->second.rank, left, symbols[left], symbols[right], merge->second.merged});
  };
  for (std::uint32_t i = 0; i < size; ++i) {
    next[i] = i + 1;
    previous[i] = i - 1;  // of the first: past the end
  }
  for (std::uint32_t i = 0; i + 1 < size; ++i) consider(i);
  while (!candidates.empty()) {
    const Candidate best = candidates.top();
    candidates.pop();
    const std::uint32_t right = next[best.left];
    if (right >= size || symbols[best.left] != best.left_symbol ||
        symbols[right] != best.right_symbol) {
      continue;
    }
    symbols[best.left] = best.merged;
    symbols[right] = kGone;
    next[best.left] = next[right];
    if (next[right] < size) previous[next[right]] = best.left;
    if (previous[best.left] < size) consider(previous[best.left]);
    consider(best.left);
  }
  for (const std::int32_t symbol : symbols) {
    if (symbol != kGone) ids.push_back(symbol);
  }
}

Result<std::string> Tokenizer::Decode(std::span<const std::int32_t> ids) const {
  std::string bytes;
  for (const std::int32_t id : ids) {
    if (id < 0 || static_cast<std::size_t>(id) >= vocab_size()) {
      return Error{
          ErrorCode::kInvalidArgument,
          "token id " + std::to_string(id) + ", expected 0 to " + std::to_string(vocab_size() - 1)};
    }
    bytes += TokenBytes(id);
  }
  return bytes;
}

}  // namespace gpt2
