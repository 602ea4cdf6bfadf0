// A tokenizer in the form that the engine's load accepts: vocab.json, merges.txt and, as JSON, the
// rules of tokenizer.json or tokenizer_config.json. Pages that need such rules read them in the
// converter module, so that the engine itself has no code for them.
#pragma once

#include <cstddef>

#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/format/json_writer.h"
#include "engine/format/vocabulary_files.h"
#include "engine/text/tokenizer_rules.h"

namespace gpt2 {

// Writes {"vocab", "merges": the texts of the two files, "rules"} for `files`. Fails if
// ReadTokenizer does, or if merges.txt cannot express a merge.
Status WriteTokenizer(const TokenizerFiles& files, std::size_t vocab_size, JsonWriter& out);

// Reads "rules" for a vocabulary of `tokens` tokens. Returns kInvalidArgument for anything that
// WriteTokenizer does not write.
Result<TokenizerRules> ReadRules(const Json& json, std::size_t tokens);

}  // namespace gpt2
