// tokenizer_config.json, special_tokens_map.json and added_tokens.json, which say what vocab.json
// and merges.txt cannot.
#pragma once

#include <span>
#include <string>

#include "engine/base/result.h"
#include "engine/format/vocabulary_files.h"
#include "engine/text/tokenizer_rules.h"

namespace gpt2 {

// The rules that the files add to GPT-2's own for the vocabulary `tokens`, id -> token. Fails,
// naming file and key, where they ask for what this engine does not compute.
Result<TokenizerRules> ReadTokenizerSettings(const TokenizerFiles& files,
                                             std::span<const std::string> tokens);

}  // namespace gpt2
