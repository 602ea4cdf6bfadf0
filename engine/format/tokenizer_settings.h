// tokenizer_config.json, special_tokens_map.json and added_tokens.json, which add to vocab.json and
// merges.txt.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/format/vocabulary_files.h"
#include "engine/text/tokenizer_rules.h"

namespace gpt2 {

inline constexpr std::string_view kGpt2Classes[] = {"GPT2Tokenizer", "GPT2TokenizerFast"};

// The rules that the files add to GPT-2's own for the vocabulary `tokens` (id -> token). Fails,
// naming file and key, if they request something unsupported. If they name the tokenizer's class,
// it must be in `classes`.
Result<TokenizerRules> ReadTokenizerSettings(
    const TokenizerFiles& files, std::span<const std::string> tokens,
    std::span<const std::string_view> classes = kGpt2Classes);

}  // namespace gpt2
