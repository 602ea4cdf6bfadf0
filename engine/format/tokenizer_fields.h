// Reads the fields of a tokenizer.json that all kinds of tokenizers share.
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

// Functions that read `json`, the value of the field `field`. Errors name the file and the field.
namespace gpt2::field {

// The most steps of a normalizer or a pre-tokenizer, because each word passes through all of them.
inline constexpr std::size_t kMostSteps = 16;

Error Bad(ErrorCode code, const std::string& what);
Error Unsupported(const std::string& field, const Json& found, std::string_view expected);

// The member `key` of `json`; null if it is missing or null.
const Json* FindValue(const Json& json, std::string_view key);

// Fails if `json` has a member that is not in `known`.
Status CheckMembers(const Json& json, const std::string& field,
                    std::initializer_list<std::string_view> known);

Result<bool> ReadFlag(const Json& json, const std::string& field, const char* key, bool otherwise);

// The member "type" of `json`; null if it is missing.
const Json& TypeOf(const Json& json);

// The member "model" of a whole tokenizer.json. Fails on a member that no tokenizer has.
Result<const Json*> ModelOf(const Json& json);

// Fails if a text to search for is empty or too long.
Status CheckPatternBytes(const std::string& field, const std::string& text);

Result<std::string> ReadText(const Json& json, const std::string& field, const char* key);

// Multiplies `growth` by the factor that a text can grow by in `step`. Fails if all steps together
// could make a text too long.
Status CheckGrowth(const std::string& field, const Normalizer& step, std::size_t& growth);

// Calls `read` with `json` or, if it is a sequence, with each step in its member `list`.
Status ForSteps(const Json& json, const std::string& field, const char* list,
                FunctionRef<Status(const Json& step, const std::string& field)> read);

}  // namespace gpt2::field

namespace gpt2 {

struct BytePairVocabulary {
  std::vector<std::string> tokens;
  std::unordered_map<std::string_view, std::int32_t> ids;  // by token
  std::vector<std::pair<std::string, std::string>> merges;
};
// Reads a model of type BPE.
Result<BytePairVocabulary> ReadBytePairs(const Json& model, std::size_t vocab_size);

// Adds the tokens of "added_tokens", which may be null, to `rules`; `ids` are those of the
// vocabulary.
Status ReadAddedTokens(const Json* added,
                       const std::unordered_map<std::string_view, std::int32_t>& ids,
                       TokenizerRules& rules);

// Adds a step of the normalizer to `rules`.
Status ReadNormalizer(const Json& json, const std::string& field, TokenizerRules& rules);

// Adds the tokens that a template puts before and after the text to `rules`.
Status ReadPostProcessor(const Json& processor, TokenizerRules& rules);

}  // namespace gpt2
