// Reads BERT's tokenizer from vocab.txt, as transformers' BertTokenizer does.
#pragma once

#include <cstddef>

#include "engine/base/result.h"
#include "engine/format/vocabulary_files.h"
#include "engine/text/tokenizer.h"

namespace gpt2 {

// Reads `files.vocab_txt`, which has one token per line (the line number is its id), and the
// settings in tokenizer_config.json, special_tokens_map.json and added_tokens.json. An error names
// the file and the field.
Result<Tokenizer> ReadBertFiles(const TokenizerFiles& files, std::size_t vocab_size);

}  // namespace gpt2
