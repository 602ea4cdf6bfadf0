// vocab.json and merges.txt of a GPT-2 folder.
#pragma once

#include <cstddef>
#include <string_view>

#include "engine/base/result.h"
#include "engine/text/tokenizer.h"

namespace gpt2 {

// Builds the tokenizer. `vocab_json` maps each token to its id, `merges_txt` lists one merge a
// line, both in GPT-2's byte-to-character alphabet; neither may be empty. Ids are below
// `vocab_size`, the config's; a vocabulary with fewer tokens is one whose matrix was padded. Fails,
// too, on an id of two tokens, and on ids with more gaps than tokens between them, so that what is
// built is as large as the files.
Result<Tokenizer> ReadTokenizer(std::string_view vocab_json, std::string_view merges_txt,
                                std::size_t vocab_size);

}  // namespace gpt2
