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
#include "engine/generate/log_softmax.h"
#include "engine/text/tokenizer.h"

namespace gpt2 {

// The end of a prompt that is generated again.
//
// A cover is a shortest run of tokens whose bytes begin with the removed ones. It follows the kept
// tokens in the encoding of some text that begins with the prompt. Among all covers, the model's
// probability of one is its exact probability given the prompt's text.
struct Healing {
  using Tokens = std::vector<std::int32_t>;
  struct Beginning {
    bool has_covers = false;  // whether one more token makes a cover
    bool is_weighed = false;
    double logprob = 0;  // of the tokens that are not kept
  };
  struct Cover {
    const Tokens* beginning;
    std::int32_t last;
  };

  std::size_t tokens = 0;  // number of removed tokens
  std::string bytes;       // the bytes of the removed tokens; the next tokens write them again
  std::string text;        // the prompt's last words: they decide which tokens may follow
  // The tokens of those words before the last token of a cover. The first are the kept tokens, and
  // each but these is a longer one by one token.
  std::map<Tokens, Beginning> beginnings;
  std::vector<Cover> covers;     // of the weighed beginnings; some may be none: see Admits
  std::vector<double> logprobs;  // of each, after the kept tokens: the model's own

  // The kept ones of the tokens of `text`. Only if any token is removed.
  const Tokens& Kept() const { return beginnings.begin()->first; }
  // The most tokens of a beginning that are not kept.
  std::size_t Longest() const;
};

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

  // The tokens that the rule removes from `ids`, the end of a prompt. The rule applies to the
  // tokens after the last added token: to their longest end that is the encoding of its own text.
  // It removes nothing for a tokenizer with other rules than GPT-2's.
  Healing TakeBack(std::span<const std::int32_t> ids) const;

  // Adds the covers of one beginning, once. `logits` [vocab_size] are those after it, and give
  // `logprob`. It must be at most one token longer than those that are weighed already.
  void Weigh(const Healing::Tokens& beginning, std::span<const float> logits,
             const LogSoftmax& logprob, Healing& healing) const;

  // Whether the encoding of some text that begins with the prompt begins with `beginning` and `id`.
  // Of covers, only those that are drawn are tested: a space alone has 33,000.
  bool Admits(const Healing& healing, const Healing::Tokens& beginning, std::int32_t id) const;

 private:
  bool BeginsWith(std::int32_t id, std::string_view bytes) const;
  bool TakeTokensBefore(std::string_view before, std::int32_t id,
                        FunctionRef<bool(const Healing::Tokens& tokens)> take) const;
  std::string TextOf(std::span<const std::int32_t> ids) const;
  bool IsText(std::int32_t id) const;

  const Tokenizer* tokenizer_;
  std::optional<std::int32_t> eos_;
};

}  // namespace gpt2
