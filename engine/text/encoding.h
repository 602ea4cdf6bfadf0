// Computes the token ids of a text, a portion at a time, in memory that hardly grows with the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/text/added_tokens.h"
#include "engine/text/aligned_text.h"
#include "engine/text/tokenizer.h"

namespace gpt2 {

// Encodes one word at a time: a word of n bytes begins as n symbols, one token each, and merging
// joins neighbours. It queues only the next merges. So it takes at most 3 n bytes and 512 KiB, or 5
// n bytes with a vocabulary of more than 65,536 tokens. It keeps its memory for the next word.
// Not thread-safe; borrows the tokenizer.
class WordMerger {
 public:
  explicit WordMerger(const Tokenizer& tokenizer)
      : tokenizer_(&tokenizer), is_wide_(tokenizer.vocab_size() > 65536) {}

  // Encodes `word`: applies the merge of lowest rank, leftmost first, until none applies. Takes n
  // log n steps. If the vocabulary lacks a byte of the word, it fails and changes nothing.
  Status Encode(std::string_view word);

  bool is_done() const { return next_ == size_; }
  // The next token of the word. Only while !is_done().
  std::int32_t Next();

 private:
  // A pair that can merge, by rank and by the first symbol of its left token.
  struct Candidate {
    std::uint32_t rank;
    std::uint32_t left;
    bool operator>(const Candidate& other) const {
      return rank != other.rank ? rank > other.rank : left > other.left;
    }
  };

  // The token whose first or last symbol is `symbol`.
  std::int32_t Token(std::size_t symbol) const {
    return is_wide_ ? wide_[symbol] : static_cast<std::int32_t>(narrow_[symbol]);
  }
  void SetToken(std::size_t symbol, std::int32_t token);
  std::size_t Symbols(std::size_t symbol) const { return tokenizer_->Symbols(Token(symbol)); }
  const Tokenizer::Merge* MergeAt(std::size_t left) const;
  void Consider(std::size_t left);
  void Queue(Candidate candidate);
  void QueueAll();
  void Apply(std::size_t left, std::int32_t merged);

  const Tokenizer* tokenizer_;
  bool is_wide_;
  std::size_t size_ = 0;               // symbols of the word
  std::size_t next_ = 0;               // the first symbol of the token that Next returns
  std::vector<std::uint16_t> narrow_;  // [size_] tokens, or, for large vocabularies,
  std::vector<std::int32_t> wide_;     // [size_] tokens
  std::vector<bool> begins_;           // [size_] whether a token begins at a symbol
  // A heap of the candidates before limit_, the best first. Candidates from limit_ on did not fit;
  // a new search finds them when the heap is empty.
  std::vector<Candidate> queue_;
  std::size_t most_queued_ = 0;
  bool has_limit_ = false;
  Candidate limit_{};
};

// Borrows the tokenizer and the text until it is done. Not thread-safe. Uses the memory of a
// WordMerger and, with normalizers, that of the text between two added tokens.
class Encoding {
 public:
  Encoding(const Tokenizer& tokenizer, std::string_view text, SpecialTokens special,
           TextEnds ends = TextEnds::kWithout, bool has_places = false);
  Encoding(Encoding&&) = delete;  // it has references into itself

  // Fills the start of `ids` (at least one) with the next ids, and returns their number. Fewer than
  // requested means the end of the text. Fills `places`, as many or none, with their places in the
  // text; tokens that a template adds have places of no bytes. Fails only if the vocabulary lacks a
  // byte of the text; do not call it again after that.
  Result<std::size_t> Next(std::span<std::int32_t> ids, std::span<TokenPlace> places = {});

  // All ids that are left, and their places, if the encoding has them.
  Result<EncodedText> TakeAll();

  bool is_done() const {
    return is_done_ && word_.is_done() && others_.ok() && given_ == others_.value().ids.size();
  }

 private:
  bool HasText() const;
  void FindText();
  std::string_view NextWord();
  std::string_view WithPrefix(std::size_t level, std::string_view piece);
  TokenPlace PlaceInText(TokenPlace in_piece) const;
  TokenPlace NextInWord(std::size_t size);

  const Tokenizer* tokenizer_;
  bool takes_special_;
  AddedTokenCutter raw_;
  AlignedText normalized_;  // the last text from raw_, normalized
  AddedTokenCutter normal_;
  std::optional<std::int32_t> raw_id_;    // the id of the token after the last text from raw_
  TokenPlace raw_place_;                  // and its place
  std::optional<std::int32_t> id_;        // the id of the token after the text in rest_
  TokenPlace id_place_;                   // and its place
  std::span<const std::int32_t> ending_;  // ids that follow the text
  std::span<const std::int32_t> beginning_;
  // [splitters + 1] the rest of the text, of the piece that the first splitter cut last, and so on.
  std::vector<std::string_view> rest_;
  std::string prefixed_;   // the last piece that got a space
  std::size_t added_ = 0;  // bytes of that space which no token has yet
  bool has_places_;
  std::size_t size_;             // bytes of the text
  std::size_t piece_begin_ = 0;  // where the last text from raw_ begins
  std::size_t at_ = 0;           // where the next token of a word begins in it, or in normalized_
  bool is_done_ = false;         // whether only tokens of word_ are left
  WordMerger word_;
  // All ids, for tokenizers without byte pairs, and how many of them Next has returned.
  Result<EncodedText> others_ = EncodedText();
  std::size_t given_ = 0;
};

}  // namespace gpt2
