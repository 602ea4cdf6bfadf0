#include "engine/languages/tokenizer_config.h"

#include <string>
#include <string_view>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/format/json.h"

namespace gpt2::config {
namespace {

constexpr const char* kFile = "tokenizer_config.json";

Result<ParsedJson> ReadFile(std::string_view text, const char* file) {
  return ParseJson(text.empty() ? "{}" : text, file);
}

// The text of a token, which may be an object with its flags; null if it has none.
const std::string* TextOfToken(const Json& token) {
  const Json* const content = token.is_string() ? &token : FindMember(token, "content");
  return content == nullptr ? nullptr : content->get_ptr<const std::string*>();
}

}  // namespace

Result<ParsedJson> Read(std::string_view text) {
  return ReadFile(text, kFile);
}

Result<ParsedJson> ReadSpecialTokens(std::string_view text) {
  return ReadFile(text, "special_tokens_map.json");
}

Error Unsupported(std::string_view key, const Json& found, std::string_view expected) {
  return Error{ErrorCode::kUnsupported,
               Concat(kFile, ": \"", key, "\" is ", Shown(found), ", expected ", expected)};
}

const Json* FindSaid(const Json& config, const char* key) {
  const Json* const value = FindMember(config, key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

Result<bool> ReadFlag(const Json& config, const char* key, bool otherwise) {
  const Json* const value = FindSaid(config, key);
  if (value == nullptr) return otherwise;
  if (value->is_boolean()) return value->get<bool>();
  return Unsupported(key, *value, "true or false");
}

Result<std::string> ReadRole(const Json& config, const Json& special_tokens, const char* key,
                             const char* otherwise) {
  const Json* const special = FindSaid(special_tokens, key);
  if (special != nullptr && FindSaid(config, "added_tokens_decoder") == nullptr) {
    if (const std::string* const text = TextOfToken(*special)) return *text;
  }
  const Json* const value = FindSaid(config, key);
  if (value == nullptr) return std::string(otherwise);
  if (const std::string* const text = TextOfToken(*value)) return *text;
  return Unsupported(key, *value, "a token");
}

}  // namespace gpt2::config
