// The tokenizer of BERT from vocab.txt, as transformers' BertTokenizer makes it.
#pragma once

#include <cstddef>
#include <string_view>

#include "engine/base/result.h"
#include "engine/text/tokenizer.h"

namespace gpt2 {

// `vocab_txt` has a token in each line, whose number is its id. `tokenizer_config` is the text of
// tokenizer_config.json, "" if there is none. An error names the file and the field.
Result<Tokenizer> ReadBertFiles(std::string_view vocab_txt, std::string_view tokenizer_config,
                                std::size_t vocab_size);

}  // namespace gpt2
