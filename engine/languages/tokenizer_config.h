// tokenizer_config.json of tokenizers that are read without a tokenizer.json.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/format/json.h"

// Of `config`, what the file holds; errors name the file and the key.
namespace gpt2::config {

// `text` is that of the file, "" if there is none.
Result<ParsedJson> Read(std::string_view text);

Error Unsupported(std::string_view key, const Json& found, std::string_view expected);

// The member `key`; null where it says nothing.
const Json* FindSaid(const Json& config, const char* key);

Result<bool> ReadFlag(const Json& config, const char* key, bool otherwise);

// The token of a role such as "unk_token".
Result<std::string> ReadRole(const Json& config, const char* key, const char* otherwise);

}  // namespace gpt2::config
