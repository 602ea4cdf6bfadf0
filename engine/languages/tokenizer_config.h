// Reads tokenizer_config.json and special_tokens_map.json of tokenizers without a tokenizer.json.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/format/json.h"

// `config` is the contents of the file; errors name the file and the key.
namespace gpt2::config {

// `text` is the text of tokenizer_config.json, "" if there is no such file.
Result<ParsedJson> Read(std::string_view text);

// The same for special_tokens_map.json.
Result<ParsedJson> ReadSpecialTokens(std::string_view text);

Error Unsupported(std::string_view key, const Json& found, std::string_view expected);

// The member `key`; null if it is missing or null.
const Json* FindSaid(const Json& config, const char* key);

Result<bool> ReadFlag(const Json& config, const char* key, bool otherwise);

// The token with a role such as "unk_token". As in transformers, special_tokens_map.json counts
// first, but not if tokenizer_config.json has "added_tokens_decoder". ReadTokenizerSettings refuses
// roles there that are no token.
Result<std::string> ReadRole(const Json& config, const Json& special_tokens, const char* key,
                             const char* otherwise);

}  // namespace gpt2::config
