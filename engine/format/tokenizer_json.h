// tokenizer.json, the file of the library `tokenizers`.
#pragma once

#include <cstddef>
#include <string_view>

#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/text/tokenizer.h"
#include "engine/text/tokenizer_rules.h"

namespace gpt2 {

// Builds the tokenizer in `text`. An error names the unsupported field and its value.
Result<Tokenizer> ReadTokenizerJson(std::string_view text, std::size_t vocab_size);

// The same for the member "model" of type BPE and "added_tokens", which may be null.
Result<Tokenizer> ReadBytePairTokenizer(const Json& model, const Json* added, TokenizerRules rules,
                                        std::size_t vocab_size);

}  // namespace gpt2
