// GPT-2's byte-level byte-pair encoding (Sennrich et al. 2016, on bytes), for any vocabulary.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/text/added_tokens.h"
#include "engine/text/text_encoder.h"
#include "engine/text/tokenizer_rules.h"

namespace gpt2 {

inline constexpr std::string_view kEndOfText = "<|endoftext|>";

// Immutable; any number of threads may use one.
class Tokenizer {
 public:
  // `tokens` maps ids to tokens; `merges` holds the two halves of each merge by rank. All are
  // spelled in the byte alphabet, and ids without a token are empty strings. Fails if a merge names
  // or makes a token outside the vocabulary, or if an added token has the id of another one.
  static Result<Tokenizer> Create(std::span<const std::string> tokens,
                                  std::span<const std::pair<std::string, std::string>> merges,
                                  TokenizerRules rules);
  // The same with GPT-2's rules; kEndOfText, if it is in `tokens`, is a special token.
  static Result<Tokenizer> Create(std::span<const std::string> tokens,
                                  std::span<const std::pair<std::string, std::string>> merges);

  // A tokenizer of another kind. `bytes` holds the bytes of each token in the middle of a text.
  // `encoder` turns text into tokens; if it is null, text cannot be encoded.
  static Tokenizer CreateOther(std::vector<std::string> bytes,
                               std::shared_ptr<const TextEncoder> encoder);

  // The ids of `text`, any bytes, all at once: see Encoding. Time grows linearly with the text, and
  // as n log n in its longest word. Fails only if the vocabulary lacks a byte of the text.
  Result<std::vector<std::int32_t>> Encode(std::string_view text, SpecialTokens special,
                                           TextEnds ends = TextEnds::kWithout) const;

  // The bytes of a token: not always whole characters. Empty if there is no such token.
  std::string_view TokenBytes(std::int32_t id) const {
    const auto index = static_cast<std::size_t>(id);  // negative ones become large
    return index < bytes_.size() ? std::string_view(bytes_[index]) : std::string_view();
  }

  // The bytes of `ids`, one after the other; fails on an id that is neither in the vocabulary nor a
  // row of the model's matrix.
  Result<std::string> Decode(std::span<const std::int32_t> ids) const;

  // Sets the rows of the model's matrix, which may have more rows than there are tokens. The other
  // rows have no text.
  void SetRows(std::size_t rows) { rows_ = rows; }

  // One more than the largest id.
  std::size_t vocab_size() const { return bytes_.size(); }

  // The token kEndOfText.
  std::optional<std::int32_t> end_of_text() const { return end_of_text_; }

  const TokenizerRules& rules() const { return rules_; }
  // The added tokens to find before the text is normalized, and those to find afterwards.
  const AddedTokens& added() const { return added_; }
  const AddedTokens& normalized_added() const { return normalized_added_; }
  bool IsAdded(std::int32_t id) const;

  // The encoder that replaces byte pairs; null if there is none.
  const TextEncoder* encoder() const { return encoder_.get(); }

  // Whether each run of tokens of an encoded text is the encoding of that run's own text.
  bool HasGpt2Rules() const;

  // The token that equals `word`, if the rules ignore merges; else nothing.
  std::optional<std::int32_t> WholeWord(std::string_view word) const;

  // The token of one byte, or -1.
  std::int32_t ByteToken(unsigned char byte) const { return byte_tokens_[byte]; }

  // The number of bytes that merge into a token: the symbols of Sennrich et al.
  std::size_t Symbols(std::int32_t id) const { return symbols_[static_cast<std::size_t>(id)]; }

  // The merge of two neighbours. Merges of lower rank are applied first.
  struct Merge {
    std::uint32_t rank;
    std::int32_t merged;
  };
  const Merge* FindMerge(std::int32_t left, std::int32_t right) const {
    const auto row = static_cast<std::size_t>(left);
    const auto end = merges_.begin() + merge_begins_[row + 1];
    const auto found =
        std::partition_point(merges_.begin() + merge_begins_[row], end,
                             [right](const PairMerge& merge) { return merge.right < right; });
    return found == end || found->right != right ? nullptr : &found->merge;
  }

 private:
  Status AddTokens();

  struct PairMerge {
    std::int32_t left;
    std::int32_t right;
    Merge merge;
  };
  // `merges` are in order of rank; if a pair occurs twice, its last merge counts.
  // GPT-2's own encoder.py puts them in a dictionary, and transformers and `tokenizers` do, too.
  void SetMerges(std::vector<PairMerge> merges);

  std::vector<std::string> bytes_;
  std::size_t rows_ = 0;
  std::vector<std::uint32_t> symbols_;
  std::array<std::int32_t, 256> byte_tokens_{};  // -1 if the vocabulary lacks the byte
  // The merges, sorted by left and right token. No hash table, because a file could choose ids that
  // all collide.
  std::vector<PairMerge> merges_;
  std::vector<std::ptrdiff_t> merge_begins_;  // the first merge of each left token, and the end
  std::optional<std::int32_t> end_of_text_;
  TokenizerRules rules_;
  AddedTokens added_;
  AddedTokens normalized_added_;
  std::unordered_set<std::int32_t> added_ids_;
  std::unordered_map<std::string, std::int32_t> words_;  // ids by bytes, if the rules ignore merges
  std::shared_ptr<const TextEncoder> encoder_;
};

}  // namespace gpt2
