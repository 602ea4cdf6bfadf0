#include "engine/api/options_json.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/format/number_text.h"
#include "engine/generate/options.h"
#include "engine/text/quoted.h"

namespace gpt2 {
namespace {

Error Bad(const std::string& what) {
  return Error{ErrorCode::kInvalidArgument, what};
}

std::string AllNames() {
  std::string names;
  for (const NumberOption& option : NumberOptions()) names += std::string(option.name) + ", ";
  for (const FlagOption& option : FlagOptions()) names += std::string(option.name) + ", ";
  return names + std::string(kStopOption);
}

Status ReadStop(const Json& value, GenerateOptions& options) {
  if (value.is_string()) return SetStop({value.get<std::string>()}, options);
  const bool is_list =
      value.is_array() &&
      std::all_of(value.begin(), value.end(), [](const Json& text) { return text.is_string(); });
  if (!is_list) return Bad(Concat("stop is ", Shown(value), ", expected an array of strings"));
  return SetStop(value.get<std::vector<std::string>>(), options);
}

Status ReadOption(const std::string& name, const Json& value, GenerateOptions& options) {
  for (const NumberOption& option : NumberOptions()) {
    if (option.name == name) return ReadNumber(option, name, value, options);
  }
  for (const FlagOption& option : FlagOptions()) {
    if (option.name != name) continue;
    if (!value.is_boolean())
      return Bad(Concat(name, " is ", Shown(value), ", expected true or false"));
    option.set(options, value.get<bool>());
    return Done{};
  }
  if (name == kStopOption) return ReadStop(value, options);
  return Bad(Concat("unknown option ", Quoted(name), ", expected one of ", AllNames()));
}

}  // namespace

Result<ParsedJson> ParseRequest(std::string_view text, const std::string& what) {
  auto json = ParseJson(text, what);
  if (!json.ok()) return Bad(json.error().message);
  return json;
}

Status CheckNames(const Json& json, const std::string& what,
                  std::initializer_list<std::string_view> names) {
  if (!json.is_object()) return Bad(Concat(what, " are ", Shown(json), ", expected an object"));
  for (const auto& [name, value] : json.items()) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    std::string all;
    for (const std::string_view known : names) {
      all += std::string(all.empty() ? "" : ", ") + std::string(known);
    }
    return Bad(Concat(what, " have the unknown option ", Quoted(name), ", expected one of ", all));
  }
  return Done{};
}

Result<bool> ReadFlag(const Json& request, const std::string& name) {
  const Json* const value = FindMember(request, name);
  if (value == nullptr) return false;
  if (!value->is_boolean())
    return Bad(Concat(name, " is ", Shown(*value), ", expected true or false"));
  return value->get<bool>();
}

Status ReadNumber(const NumberOption& option, const std::string& name, const Json& value,
                  GenerateOptions& options) {
  if (value.is_number() && SetNumber(option, value.get<double>(), options)) return Done{};
  return Bad(Concat(name, " is ", Shown(value), ", expected a ", (option.is_whole ? "whole " : ""),
                    "number from ", NumberText(option.least), " to ", NumberText(option.most)));
}

Result<GenerateOptions> ReadGenerateOptions(const Json& json, GenerateOptions options) {
  if (!json.is_object()) return Bad(Concat("options are ", Shown(json), ", expected an object"));
  for (const auto& [name, value] : json.items()) GPT2_TRY(ReadOption(name, value, options));
  return options;
}

}  // namespace gpt2
