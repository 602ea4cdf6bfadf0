// Reads the fields of a tokenizer.json that tokenizers of all kinds share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/base/function_ref.h"
#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/text/tokenizer_rules.h"

// Of `json`, which is the field named `field`; errors name the file and the field.
namespace gpt2::field {

Error Bad(ErrorCode code, const std::string& what);
Error Unsupported(const std::string& field, const Json& found, std::string_view expected);

// The member `key` of `json`; null where it has none, or has null.
const Json* FindValue(const Json& json, std::string_view key);

// Fails on a member of `json` that is not among `known`.
Status CheckMembers(const Json& json, const std::string& field,
                    std::initializer_list<std::string_view> known);

Result<bool> ReadFlag(const Json& json, const std::string& field, const char* key, bool otherwise);

// The member "type", or null.
const Json& TypeOf(const Json& json);

// Fails where a text to search for is empty or too long.
Status CheckPatternBytes(const std::string& field, const std::string& text);

Result<std::string> ReadText(const Json& json, const std::string& field, const char* key);

// Multiplies `growth` by how many times as long a text becomes at most where `content` takes the
// place of `pattern` bytes. Fails where steps together would make any text too long.
Status CheckGrowth(const std::string& field, std::size_t pattern, const std::string& content,
                   std::size_t& growth);

// Calls `read` with each of the steps that `json` consists of: itself, or those in a sequence of
// the member `list`.
Status ForSteps(const Json& json, const std::string& field, const char* list,
                FunctionRef<Status(const Json& step, const std::string& field)> read);

}  // namespace gpt2::field

namespace gpt2 {

struct BytePairVocabulary {
  std::vector<std::string> tokens;
  std::unordered_map<std::string_view, std::int32_t> ids;  // of the tokens
  std::vector<std::pair<std::string, std::string>> merges;
};
// Reads a model of the type BPE.
Result<BytePairVocabulary> ReadBytePairs(const Json& model, std::size_t vocab_size);

// Adds the tokens of "added_tokens", null where there are none, to `rules`; `ids` are those of the
// vocabulary.
Status ReadAddedTokens(const Json* added,
                       const std::unordered_map<std::string_view, std::int32_t>& ids,
                       TokenizerRules& rules);

// Adds a step of the normalizer to `rules`.
Status ReadNormalizer(const Json& json, const std::string& field, TokenizerRules& rules);

// Adds what a template puts before and behind the text to `rules`.
Status ReadPostProcessor(const Json& processor, TokenizerRules& rules);

}  // namespace gpt2
