#include "engine/api/options_json.h"

#include <algorithm>

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
  std::vector<std::string> stop;
  const Json list = value.is_string() ? Json::array({value}) : value;
  const bool is_text =
      list.is_array() &&
      std::all_of(list.begin(), list.end(), [](const Json& text) { return text.is_string(); });
  if (!is_text) return Bad("stop is " + Shown(value) + ", expected an array of strings");
  for (const Json& text : list) stop.push_back(text.get<std::string>());
  return SetStop(std::move(stop), options);
}

Status ReadOption(const std::string& name, const Json& value, GenerateOptions& options) {
  for (const NumberOption& option : NumberOptions()) {
    if (option.name != name) continue;
    if (value.is_number()) return SetNumber(option, value.get<double>(), options);
    return Bad(name + " is " + Shown(value) + ", expected a number");
  }
  for (const FlagOption& option : FlagOptions()) {
    if (option.name != name) continue;
    if (!value.is_boolean()) return Bad(name + " is " + Shown(value) + ", expected true or false");
    option.set(options, value.get<bool>());
    return Done{};
  }
  if (name == kStopOption) return ReadStop(value, options);
  return Bad("there is no option \"" + name + "\"; there are " + AllNames());
}

}  // namespace

Result<GenerateOptions> ReadGenerateOptions(const Json& json) {
  if (!json.is_object()) return Bad("options are " + Shown(json) + ", expected an object");
  GenerateOptions options;
  for (const auto& [name, value] : json.items()) GPT2_TRY(ReadOption(name, value, options));
  return options;
}

}  // namespace gpt2
