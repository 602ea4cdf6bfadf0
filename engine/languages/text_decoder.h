// The decoder of a tokenizer: turns tokens into text.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace gpt2 {

// Immutable. A step of a decoder changes the texts of all tokens, which are joined at the end.
class DecoderStep {
 public:
  virtual ~DecoderStep() = default;
  virtual void Apply(std::vector<std::string>& tokens) const = 0;
  // Whether a token such as "<0x41>" is a byte.
  virtual bool has_byte_tokens() const { return false; }
};
using DecoderSteps = std::vector<std::unique_ptr<const DecoderStep>>;

// Tokens are bytes in GPT-2's alphabet.
std::unique_ptr<const DecoderStep> ByteLevelDecoder();
// Puts a space between tokens, except before a token with `prefix`; `cleans` removes spaces around
// English punctuation.
std::unique_ptr<const DecoderStep> WordPieceDecoder(std::string prefix, bool cleans);
// Replaces `replacement` with a space; with `drops_first`, removes it from the first token.
std::unique_ptr<const DecoderStep> MetaspaceDecoder(std::string replacement, bool drops_first);
// Turns a token such as "<0x41>" into its byte. Each byte of a run that is not valid text becomes
// U+FFFD.
std::unique_ptr<const DecoderStep> ByteFallbackDecoder();
std::unique_ptr<const DecoderStep> FuseDecoder();
std::unique_ptr<const DecoderStep> ReplaceDecoder(std::string literal, std::string content);
// Removes up to `most_left` and `most_right` of `content` from the ends of each token.
std::unique_ptr<const DecoderStep> StripDecoder(std::string content, std::size_t most_left,
                                                std::size_t most_right);

}  // namespace gpt2
