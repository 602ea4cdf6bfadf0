// vocab.json and merges.txt of a GPT-2 folder.
#pragma once

#include <string_view>

#include "engine/base/result.h"
#include "engine/text/tokenizer.h"

namespace gpt2 {

// Builds the tokenizer. `vocab_json` maps each token to its id, `merges_txt` lists one merge a
// line, both in GPT-2's byte-to-character alphabet. Fails on ids that are out of range or stand
// twice.
Result<Tokenizer> ReadTokenizer(std::string_view vocab_json, std::string_view merges_txt);

}  // namespace gpt2
