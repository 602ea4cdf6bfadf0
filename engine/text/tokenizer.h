// GPT-2's byte-level byte-pair encoding (Sennrich et al. 2016, on bytes), for any vocabulary.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/base/result.h"

namespace gpt2 {

enum class SpecialTokens {
  kAsText,   // "<|endoftext|>" in the text is thirteen characters like any others
  kAllowed,  // it is the end-of-text token
};

inline constexpr std::string_view kEndOfText = "<|endoftext|>";

// Immutable; any number of threads may use one.
class Tokenizer {
 public:
  // `tokens`: id -> token, `merges`: the two halves of each merge by rank, all spelled in the byte
  // alphabet; ids that name no token are empty strings. Fails where a merge names or makes a token
  // that is not in the vocabulary.
  static Result<Tokenizer> Create(std::span<const std::string> tokens,
                                  std::span<const std::pair<std::string, std::string>> merges);

  // The ids of `text`, any bytes, all at once: see Encoding. Time grows linearly with the text, and
  // as n log n in its longest word. Fails only where the vocabulary lacks a byte that the text
  // holds.
  Result<std::vector<std::int32_t>> Encode(std::string_view text, SpecialTokens special) const;

  // The bytes of a token: not always whole characters. Empty where there is no such token.
  std::string_view TokenBytes(std::int32_t id) const {
    const auto index = static_cast<std::size_t>(id);  // negative ones become large
    return index < bytes_.size() ? std::string_view(bytes_[index]) : std::string_view();
  }

  // The bytes of `ids`, one after the other; fails on an id outside the vocabulary.
  Result<std::string> Decode(std::span<const std::int32_t> ids) const;

  // One more than the largest id.
  std::size_t vocab_size() const { return bytes_.size(); }

  std::optional<std::int32_t> end_of_text() const { return end_of_text_; }

  // The token of one byte, or -1.
  std::int32_t ByteToken(unsigned char byte) const { return byte_tokens_[byte]; }

  // Bytes that a token is merged from: the symbols of Sennrich et al.
  std::size_t Symbols(std::int32_t id) const { return symbols_[static_cast<std::size_t>(id)]; }

  // What two neighbours become, or null; lower ranks come first.
  struct Merge {
    std::uint32_t rank;
    std::int32_t merged;
  };
  const Merge* FindMerge(std::int32_t left, std::int32_t right) const {
    const auto found = merges_.find(PairKey(left, right));
    return found == merges_.end() ? nullptr : &found->second;
  }

 private:
  static std::uint64_t PairKey(std::int32_t left, std::int32_t right) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 |
           static_cast<std::uint32_t>(right);
  }

  std::vector<std::string> bytes_;
  std::vector<std::uint32_t> symbols_;
  std::array<std::int32_t, 256> byte_tokens_{};  // -1 where the vocabulary lacks the byte
  std::unordered_map<std::uint64_t, Merge> merges_;
  std::optional<std::int32_t> end_of_text_;
};

}  // namespace gpt2
