// The interface of encoders that do not merge byte pairs (engine/languages).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/text/aligned_text.h"

namespace gpt2 {

enum class SpecialTokens {
  kAsText,   // "<|endoftext|>" in the text stands for its thirteen characters
  kAllowed,  // "<|endoftext|>" in the text is the end-of-text token
};

// Which tokens an encoding adds to a text, of those that the rules place at its ends.
enum class TextEnds {
  kWithout,    // none
  kBeginning,  // those at the beginning, because the model continues the text
  kWith,       // those at both ends
};

// Immutable; any number of threads may use one.
class TextEncoder {
 public:
  virtual ~TextEncoder() = default;
  // All tokens of `text`; the places count only with `has_places`. Fails if the vocabulary lacks a
  // token for a part of it.
  virtual Result<EncodedText> Encode(std::string_view text, SpecialTokens special, TextEnds ends,
                                     bool has_places) const = 0;
  // The text of `ids` at the beginning of a text. Ids outside the vocabulary have no text.
  virtual std::string Decode(std::span<const std::int32_t> ids) const = 0;
};

}  // namespace gpt2
