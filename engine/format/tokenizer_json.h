// tokenizer.json, the file of the library `tokenizers`.
#pragma once

#include <cstddef>
#include <string_view>

#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/text/tokenizer.h"
#include "engine/text/tokenizer_rules.h"

namespace gpt2 {

// Builds the tokenizer that `text` describes. An error names the field that this engine does not
// compute, and its value.
Result<Tokenizer> ReadTokenizerJson(std::string_view text, std::size_t vocab_size);

// The same of the member "model" of the type BPE and of "added_tokens", null where there are none.
Result<Tokenizer> ReadBytePairTokenizer(const Json& model, const Json* added, TokenizerRules rules,
                                        std::size_t vocab_size);

}  // namespace gpt2
