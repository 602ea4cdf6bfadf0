// Reads the tokenizer of a SentencePiece file, as transformers does for a T5Tokenizer.
#pragma once

#include <cstddef>

#include "engine/base/result.h"
#include "engine/format/vocabulary_files.h"
#include "engine/text/tokenizer.h"

namespace gpt2 {

// Reads `files.sentence_piece`, and the settings in tokenizer_config.json, special_tokens_map.json
// and added_tokens.json. An error names the file and the field.
Result<Tokenizer> ReadSentencePiece(const TokenizerFiles& files, std::size_t vocab_size);

}  // namespace gpt2
