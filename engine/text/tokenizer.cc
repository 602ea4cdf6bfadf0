#include "engine/text/tokenizer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/text/added_tokens.h"
#include "engine/text/aligned_text.h"
#include "engine/text/byte_alphabet.h"
#include "engine/text/encoding.h"
#include "engine/text/quoted.h"
#include "engine/text/text_encoder.h"
#include "engine/text/tokenizer_rules.h"

namespace gpt2 {

Result<Tokenizer> Tokenizer::Create(std::span<const std::string> tokens,
                                    std::span<const std::pair<std::string, std::string>> merges,
                                    TokenizerRules rules) {
  Tokenizer tokenizer;
  tokenizer.rules_ = std::move(rules);
  tokenizer.byte_tokens_.fill(-1);
  std::unordered_map<std::string_view, std::int32_t> ids;
  ids.reserve(tokens.size());
  std::vector<PairMerge> found_merges;
  found_merges.reserve(merges.size());
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    const auto index = static_cast<std::int32_t>(id);
    // A token outside the alphabet is a special one and stands for its own spelling.
    const std::optional<std::string> spelled = BytesFromAlphabet(tokens[id]);
    std::string bytes = spelled.value_or(tokens[id]);
    if (tokens[id] == kEndOfText) tokenizer.end_of_text_ = index;
    if (!tokens[id].empty() && !ids.emplace(tokens[id], index).second) {
      return Error{ErrorCode::kCorrupt,
                   Concat("the token ", Quoted(tokens[id]), " is listed twice")};
    }
    if (spelled && bytes.size() == 1)
      tokenizer.byte_tokens_[static_cast<unsigned char>(bytes[0])] = index;
    if (spelled && tokenizer.rules_.ignores_merges) tokenizer.words_.emplace(bytes, index);
    tokenizer.bytes_.push_back(std::move(bytes));
    // Characters of the spelling: each is a byte, and a merge puts two spellings together.
    const auto symbols = std::count_if(tokens[id].begin(), tokens[id].end(),
                                       [](char c) { return (c & 0xc0) != 0x80; });
    if (symbols == 0 && !tokens[id].empty()) {
      return Error{ErrorCode::kCorrupt, Concat("the token with id ", id, " is not valid UTF-8")};
    }
    tokenizer.symbols_.push_back(static_cast<std::uint32_t>(symbols));
  }
  for (std::size_t rank = 0; rank < merges.size(); ++rank) {
    const auto& [left, right] = merges[rank];
    const auto find = [&](const std::string& token) { return ids.find(token); };
    const std::string whole = left + right;
    for (const std::string& token : {left, right, whole}) {
      if (find(token) != ids.end()) continue;
      return Error{ErrorCode::kCorrupt,
                   Concat("merge ", rank + 1, " ", Quoted(left + " " + right), " needs the token ",
                          Quoted(token), ", which the vocabulary does not have")};
    }
    found_merges.push_back({find(left)->second,
                            find(right)->second,
                            {static_cast<std::uint32_t>(rank), find(whole)->second}});
  }
  tokenizer.SetMerges(std::move(found_merges));
  GPT2_TRY(tokenizer.AddTokens());
  return tokenizer;
}

Result<Tokenizer> Tokenizer::Create(std::span<const std::string> tokens,
                                    std::span<const std::pair<std::string, std::string>> merges) {
  TokenizerRules rules;
  const auto end = std::find(tokens.begin(), tokens.end(), kEndOfText);
  if (end != tokens.end()) {
    const auto id = static_cast<std::int32_t>(end - tokens.begin());
    rules.added.push_back({.content = std::string(kEndOfText), .id = id, .is_special = true});
  }
  return Create(tokens, merges, std::move(rules));
}

Tokenizer Tokenizer::CreateOther(std::vector<std::string> bytes,
                                 std::shared_ptr<const TextEncoder> encoder) {
  Tokenizer tokenizer;
  tokenizer.byte_tokens_.fill(-1);
  tokenizer.rules_.splitters.clear();
  tokenizer.symbols_.resize(bytes.size());
  tokenizer.bytes_ = std::move(bytes);
  tokenizer.SetMerges({});
  tokenizer.encoder_ = std::move(encoder);
  return tokenizer;
}

void Tokenizer::SetMerges(std::vector<PairMerge> merges) {
  const auto is_before = [](const PairMerge& a, const PairMerge& b) {
    return std::tie(a.left, a.right, b.merge.rank) < std::tie(b.left, b.right, a.merge.rank);
  };
  std::make_heap(merges.begin(), merges.end(), is_before);
  std::sort_heap(merges.begin(), merges.end(), is_before);
  const auto is_same_pair = [](const PairMerge& a, const PairMerge& b) {
    return a.left == b.left && a.right == b.right;
  };
  merges.erase(std::unique(merges.begin(), merges.end(), is_same_pair), merges.end());
  merge_begins_.assign(bytes_.size() + 1, 0);
  for (const PairMerge& merge : merges) ++merge_begins_[static_cast<std::size_t>(merge.left) + 1];
  std::partial_sum(merge_begins_.begin(), merge_begins_.end(), merge_begins_.begin());
  merges_ = std::move(merges);
}

// Gives the added tokens their places among the others.
Status Tokenizer::AddTokens() {
  std::vector<AddedToken> raw, normalized;
  for (const AddedToken& token : rules_.added) {
    const auto index = static_cast<std::size_t>(token.id);
    if (index >= bytes_.size()) {
      bytes_.resize(index + 1);
      symbols_.resize(index + 1);
    }
    const std::string bytes = BytesFromAlphabet(token.content).value_or(token.content);
    if (!bytes_[index].empty() && bytes_[index] != bytes) {
      return Error{ErrorCode::kCorrupt, Concat("the added token ", Quoted(token.content),
                                               " has the id ", index, " of another token")};
    }
    bytes_[index] = bytes;
    if (token.content == kEndOfText) end_of_text_ = token.id;
    added_ids_.insert(token.id);
    (token.is_normalized ? normalized : raw).push_back(token);
  }
  for (AddedToken& token : normalized) {
    AlignedText content = Align(token.content, 0, /*has_places=*/false);
    Normalize(rules_.normalizers, content);
    token.content = std::move(content.text);
    // That is what `tokenizers` decodes it to, too.
    bytes_[static_cast<std::size_t>(token.id)] =
        BytesFromAlphabet(token.content).value_or(token.content);
  }
  std::erase_if(normalized, [](const AddedToken& token) { return token.content.empty(); });
  added_ = AddedTokens(std::move(raw));
  normalized_added_ = AddedTokens(std::move(normalized));
  return Done{};
}

bool Tokenizer::IsAdded(std::int32_t id) const {
  return added_ids_.contains(id);
}

bool Tokenizer::HasGpt2Rules() const {
  return rules_.normalizers.empty() && !rules_.prefix_space_at && !rules_.ignores_merges &&
         rules_.splitters.size() == 1 && rules_.splitters[0].kind == Splitter::Kind::kGpt2Words;
}

std::optional<std::int32_t> Tokenizer::WholeWord(std::string_view word) const {
  if (!rules_.ignores_merges) return std::nullopt;
  const auto found = words_.find(std::string(word));
  return found == words_.end() ? std::nullopt : std::optional(found->second);
}

Result<std::vector<std::int32_t>> Tokenizer::Encode(std::string_view text, SpecialTokens special,
                                                    TextEnds ends) const {
  Encoding encoding(*this, text, special, ends);
  GPT2_ASSIGN(EncodedText all, encoding.TakeAll());
  return std::move(all.ids);
}

Result<std::string> Tokenizer::Decode(std::span<const std::int32_t> ids) const {
  std::string bytes;
  const std::size_t count = std::max(vocab_size(), rows_);
  for (const std::int32_t id : ids) {
    if (id < 0 || static_cast<std::size_t>(id) >= count) {
      return Error{ErrorCode::kInvalidArgument,
                   Concat("token id ", id, ", expected 0 to ", count - 1)};
    }
    bytes += TokenBytes(id);
  }
  return encoder_ ? encoder_->Decode(ids) : bytes;
}

}  // namespace gpt2
