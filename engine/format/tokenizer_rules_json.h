// A tokenizer as the engine's own load takes it: vocab.json, merges.txt and, as JSON, the rules
// that tokenizer.json or tokenizer_config.json describe. Pages that need those read them in the
// module that converts, so that the engine itself has no code for them.
#pragma once

#include <cstddef>

#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/format/json_writer.h"
#include "engine/format/vocabulary_files.h"
#include "engine/text/tokenizer_rules.h"

namespace gpt2 {

// Writes {"vocab", "merges": the texts of the two files, "rules"} for `files`. Fails where
// ReadTokenizer does, and where merges.txt cannot spell a merge.
Status WriteTokenizer(const TokenizerFiles& files, std::size_t vocab_size, JsonWriter& out);

// Reads "rules" for a vocabulary of `tokens` tokens. Anything else than what WriteTokenizer wrote
// is kInvalidArgument.
Result<TokenizerRules> ReadRules(const Json& json, std::size_t tokens);

}  // namespace gpt2
