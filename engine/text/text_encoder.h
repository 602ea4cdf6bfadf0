// How text becomes tokens, where it is not by merging byte pairs (engine/languages).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace gpt2 {

enum class SpecialTokens {
  kAsText,   // "<|endoftext|>" in the text is thirteen characters like any others
  kAllowed,  // it is the end-of-text token
};

// Of what the rules put at the beginning and at the end of a text.
enum class TextEnds {
  kWithout,    // nothing
  kBeginning,  // what comes before a text that goes on
  kWith,       // both
};

// Immutable; any number of threads may use one.
class TextEncoder {
 public:
  virtual ~TextEncoder() = default;
  // All ids of `text`. Fails where the vocabulary lacks a token for a part of it.
  virtual Result<std::vector<std::int32_t>> Encode(std::string_view text, SpecialTokens special,
                                                   TextEnds ends) const = 0;
  // The text of `ids` where nothing comes before them. Those outside the vocabulary have none.
  virtual std::string Decode(std::span<const std::int32_t> ids) const = 0;
};

}  // namespace gpt2
