// Reads a tokenizer.json of any model and any rules that engine/languages supports.
#pragma once

#include <cstddef>
#include <string_view>

#include "engine/base/result.h"
#include "engine/format/vocabulary_files.h"
#include "engine/text/tokenizer.h"

namespace gpt2 {

// Builds the tokenizer in `text`. An error names the unsupported field.
Result<Tokenizer> ReadLanguageJson(std::string_view text, std::size_t vocab_size);

// Builds a tokenizer of `files` that the engine itself does not support: from tokenizer.json,
// vocab.txt or a SentencePiece file, the first that exists.
Result<Tokenizer> ReadOtherTokenizer(const TokenizerFiles& files, std::size_t vocab_size);

// Builds the tokenizer of `files`: the engine's own if it supports them, else one of this folder.
Result<Tokenizer> ReadAnyTokenizer(const TokenizerFiles& files, std::size_t vocab_size);

}  // namespace gpt2
