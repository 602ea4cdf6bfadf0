// Models that turn the pieces of a text into tokens: byte pairs and three others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/base/result.h"
#include "engine/languages/text_steps.h"
#include "engine/text/aligned_text.h"
#include "engine/text/tokenizer.h"

namespace gpt2 {

// The most bytes of a token. This limits the work for each byte of a text.
inline constexpr std::size_t kMostTokenBytes = 512;

// Turns the pieces of a text into token ids. Immutable.
class TextModel {
 public:
  virtual ~TextModel() = default;
  // Appends the tokens of all `pieces`.
  virtual Status Encode(const std::vector<TextPiece>& pieces, EncodedText& out) const = 0;
};

using TokenIds = std::unordered_map<std::string, std::int32_t>;

// A model that merges byte pairs as `tokenizer` does, without the other rules of `tokenizer`.
std::unique_ptr<const TextModel> BytePairModel(Tokenizer tokenizer);

// A model in which each piece is one token, or else `unknown`, which is "" if there is no such
// token.
std::unique_ptr<const TextModel> WordLevelModel(TokenIds ids, const std::string& unknown);

struct WordPieceRules {
  std::string unknown = "[UNK]";
  std::string prefix = "##";          // begins a token that continues a word
  std::size_t most_characters = 100;  // a longer word is `unknown`
};
// A model that takes the longest token at the start of a piece, then the longest that continues it,
// and so on.
std::unique_ptr<const TextModel> WordPieceModel(TokenIds ids, WordPieceRules rules);

struct ScoredToken {
  std::string text;
  double score;            // the logarithm of its probability
  bool is_in_text = true;  // if false, no text becomes this token
};
// A model that takes the most probable tokens of a piece (Kudo 2018, "Subword Regularization").
// Text without a token becomes `unknown`, if there is one; with `falls_back`, its bytes become
// tokens such as "<0x0A>". The index in `tokens` is the id; no text in it is empty or longer than
// kMostTokenBytes.
std::unique_ptr<const TextModel> UnigramModel(std::vector<ScoredToken> tokens,
                                              std::optional<std::int32_t> unknown, bool falls_back);

// "<0x0A>"
std::string ByteTokenName(unsigned char byte);
std::optional<unsigned char> ByteOfTokenName(std::string_view name);

}  // namespace gpt2
