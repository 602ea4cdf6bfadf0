// Token healing: continues a text in the middle of a word (Lundberg 2023: "The Art of Prompt
// Design: Prompt Boundaries and Token Healing").
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/function_ref.h"
#include "engine/model/forward.h"
#include "engine/text/tokenizer.h"

namespace gpt2 {

// The end of a prompt that is generated again.
//
// A cover is a shortest run of tokens whose bytes begin with the removed bytes, and which follows
// the kept tokens in the encoding of some text that begins with the prompt. All its tokens but the
// last one are its beginning, which may be empty.
struct Healing {
  struct Beginning {
    // The tokens that make a longer beginning, and those that may end a cover: see Admits.
    std::vector<std::int32_t> next;
    std::vector<float> logits;  // [vocab_size] after the kept tokens and this beginning
    double logprob = 0;         // of this beginning after the kept tokens
  };

  std::size_t tokens = 0;  // number of removed tokens
  std::string bytes;       // the bytes of the removed tokens; the next tokens write them again
  std::vector<std::int32_t> before;  // the last kept tokens, which decide what may follow
  // All beginnings of covers, and the beginnings of those, by their tokens. The caller computes
  // their logits.
  std::map<std::vector<std::int32_t>, Beginning> beginnings;
};

// What may be covers, ordered by their beginnings and then by their last tokens.
struct Covers {
  struct Cover {
    const std::vector<std::int32_t>* beginning;
    std::int32_t last;
  };
  std::vector<Cover> covers;
  std::vector<double> logprobs;  // of each, after the kept tokens: the model's own
};

// Needs the logits of all beginnings, and sets their log-probabilities. Borrows the beginnings.
Covers WeighCovers(const Compute& compute, Healing& healing);

// A model has learned "straw" + "berry", not "strawb" + "erry". A prompt that ends in a word, or in
// a space, may end in tokens that the longer text would not have. The healer removes them. A cover
// then writes the removed bytes again, and may write more.
//
// The rule: remove the fewest tokens, but at least one, such that the tokens before them begin
// every longer text. So the model can write any continuation in that text's own tokens. Immutable;
// borrows the tokenizer.
class TokenHealer {
 public:
  // The number of bytes to examine at the end of a prompt: no token of GPT-2 is longer, or has a
  // prefix of more tokens.
  static constexpr std::size_t kMostBytes = 128;
  static constexpr std::size_t kMostTokens = 16;

  // `eos` and the tokenizer's added tokens are not text: they are never removed or written.
  TokenHealer(const Tokenizer& tokenizer, std::optional<std::int32_t> eos)
      : tokenizer_(&tokenizer), eos_(eos) {}

  // The tokens that the rule removes from `ids`, the end of a prompt, and what may cover them. The
  // rule applies to the tokens after the last added token: to their longest end that is the
  // encoding of its own text. It removes nothing for a tokenizer with other rules than GPT-2's.
  Healing TakeBack(std::span<const std::int32_t> ids) const;

  // Whether `id`, one of a beginning's next tokens, makes a longer beginning or ends a cover. A
  // space has 33,000 possible covers in GPT-2's vocabulary, too many to check them all.
  bool Admits(const Healing& healing, const std::vector<std::int32_t>& beginning,
              std::int32_t id) const;

 private:
  std::string Word() const;
  std::vector<std::string> Following(std::string_view text) const;
  bool TakeTokensBefore(std::string_view before, std::int32_t id,
                        FunctionRef<bool(const std::vector<std::int32_t>& tokens)> take) const;
  std::string TextOf(std::span<const std::int32_t> ids) const;
  bool IsText(std::int32_t id) const;

  const Tokenizer* tokenizer_;
  std::optional<std::int32_t> eos_;
};

}  // namespace gpt2
