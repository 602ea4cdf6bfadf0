// Reads BERT's tokenizer from vocab.txt, as transformers' BertTokenizer does.
#pragma once

#include <cstddef>
#include <string_view>

#include "engine/base/result.h"
#include "engine/text/tokenizer.h"

namespace gpt2 {

// `vocab_txt` has one token per line; the line number is its id. `tokenizer_config` is the text of
// tokenizer_config.json, "" if there is none. An error names the file and the field.
Result<Tokenizer> ReadBertFiles(std::string_view vocab_txt, std::string_view tokenizer_config,
                                std::size_t vocab_size);

}  // namespace gpt2
