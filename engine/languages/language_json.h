// tokenizer.json of any model and any rules that engine/languages has.
#pragma once

#include <cstddef>
#include <string_view>

#include "engine/base/result.h"
#include "engine/format/vocabulary_files.h"
#include "engine/text/tokenizer.h"

namespace gpt2 {

// Builds the tokenizer that `text` describes. An error names the field that is not computed.
Result<Tokenizer> ReadLanguageJson(std::string_view text, std::size_t vocab_size);

// Builds the tokenizer of `files` that the engine does not read by itself: of tokenizer.json,
// vocab.txt or a SentencePiece file, the first that is there.
Result<Tokenizer> ReadOtherTokenizer(const TokenizerFiles& files, std::size_t vocab_size);

// Builds the tokenizer of `files`: the engine's own where that reads them, else one of this folder.
Result<Tokenizer> ReadAnyTokenizer(const TokenizerFiles& files, std::size_t vocab_size);

}  // namespace gpt2
