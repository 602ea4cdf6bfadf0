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
#include "engine/text/tokenizer.h"

namespace gpt2 {

// Bytes of the longest token: bounds the work for each byte of a text.
inline constexpr std::size_t kMostTokenBytes = 512;

// Immutable.
class TextModel {
 public:
  virtual ~TextModel() = default;
  // Appends the ids of all `pieces`.
  virtual Status Encode(const std::vector<TextPiece>& pieces,
                        std::vector<std::int32_t>& ids) const = 0;
};

using TokenIds = std::unordered_map<std::string, std::int32_t>;

// Uses none of the tokenizer's own rules.
std::unique_ptr<const TextModel> BytePairModel(Tokenizer tokenizer);

// Each piece is a token, or `unknown`, "" if there is none.
std::unique_ptr<const TextModel> WordLevelModel(TokenIds ids, const std::string& unknown);

struct WordPieceRules {
  std::string unknown = "[UNK]";
  std::string prefix = "##";          // of a token that continues a word
  std::size_t most_characters = 100;  // of a word; a longer one is `unknown`
};
// The longest token at the start of a piece, then the longest that continues it.
std::unique_ptr<const TextModel> WordPieceModel(TokenIds ids, WordPieceRules rules);

struct ScoredToken {
  std::string text;
  double score;            // the logarithm of its probability
  bool is_in_text = true;  // if false, no text becomes this token
};
// The most probable tokens of a piece (Kudo 2018, "Subword Regularization"). `unknown` is the id
// for text without a token, if there is one; with `falls_back`, its bytes become tokens such as
// "<0x0A>". `tokens` are by id; no text is empty or longer than kMostTokenBytes.
std::unique_ptr<const TextModel> UnigramModel(std::vector<ScoredToken> tokens,
                                              std::optional<std::int32_t> unknown, bool falls_back);

// "<0x0A>"
std::string ByteTokenName(unsigned char byte);
std::optional<unsigned char> ByteOfTokenName(std::string_view name);

}  // namespace gpt2
