// Token healing: continues a text in the middle of a word (Lundberg 2023: "The Art of Prompt
// Design: Prompt Boundaries and Token Healing").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/tokenizer.h"

namespace gpt2 {

// The end of a prompt that is generated again.
struct Healing {
  std::size_t tokens = 0;  // number of removed tokens
  std::string bytes;       // the bytes of the removed tokens; the next tokens write them again
};

// A model has learned "straw" + "berry", not "strawb" + "erry". A prompt that ends in a word, or in
// a space, may end in tokens that the longer text would not have. The healer removes them. The next
// tokens must then write the removed bytes again, and may write more.
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

  // Fills `allowed` [vocab_size] with the logits of the tokens that are allowed next. A token is
  // allowed if it is a prefix of `bytes`, which are still to be written, or starts with all of
  // them. The others become minus infinity. For the bytes of TakeBack at least one token is
  // allowed, because each byte is a token.
  void Allow(std::string_view bytes, std::span<const float> logits,
             std::vector<float>& allowed) const;

 private:
  bool IsText(std::int32_t id) const;

  const Tokenizer* tokenizer_;
  std::optional<std::int32_t> eos_;
};

}  // namespace gpt2
