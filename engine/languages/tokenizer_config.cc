#include "engine/languages/tokenizer_config.h"

#include <string>
#include <string_view>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/format/json.h"

namespace gpt2::config {
namespace {

constexpr const char* kFile = "tokenizer_config.json";

}  // namespace

Result<ParsedJson> Read(std::string_view text) {
  return ParseJson(text.empty() ? "{}" : text, kFile);
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

Result<std::string> ReadRole(const Json& config, const char* key, const char* otherwise) {
  const Json* value = FindSaid(config, key);
  if (value == nullptr) return std::string(otherwise);
  if (const Json* const content = FindMember(*value, "content")) value = content;
  if (value->is_string()) return value->get<std::string>();
  return Unsupported(key, *value, "a token");
}

}  // namespace gpt2::config
