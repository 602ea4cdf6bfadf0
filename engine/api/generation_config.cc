#include "engine/api/generation_config.h"

#include <string>
#include <string_view>

#include "engine/api/options_json.h"
#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/format/json_writer.h"
#include "engine/generate/options.h"

namespace gpt2 {
namespace {

// The member `key`, unless it says nothing.
const Json* FindSaid(const Json& json, std::string_view key) {
  const Json* const value = FindMember(json, key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

Error InFile(const std::string& what) {
  return Error{ErrorCode::kCorrupt, Concat("generation_config.json: ", what)};
}

}  // namespace

Result<GenerateOptions> ReadGenerationConfig(std::string_view text) {
  GPT2_ASSIGN(const ParsedJson json, ParseJson(text, "generation_config.json"));
  if (!json->is_object()) return InFile(Concat("it is ", Shown(*json), ", expected an object"));
  GenerateOptions options;
  for (const NumberOption& option : NumberOptions()) {
    if (option.hub_name.empty()) continue;
    std::string key(option.hub_name);
    const Json* value = FindSaid(*json, key);
    if (value == nullptr && key == "max_new_tokens") value = FindSaid(*json, key = "max_length");
    if (value == nullptr) continue;
    const Status status = ReadNumber(option, key, *value, options);
    if (!status.ok()) return InFile(status.error().message);
  }
  if (const Json* const samples = FindSaid(*json, "do_sample")) {
    if (!samples->is_boolean()) {
      return InFile(Concat("do_sample is ", Shown(*samples), ", expected true or false"));
    }
    if (!samples->get<bool>()) options.temperature = 0;
  }
  return options;
}

void WriteDefaults(const GenerateOptions& defaults, JsonWriter& out) {
  out.Open('{');
  for (const NumberOption& option : NumberOptions()) {
    if (!option.hub_name.empty()) out.Member(option.name, option.get(defaults));
  }
  out.Close('}');
}

}  // namespace gpt2
