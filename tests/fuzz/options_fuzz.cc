// Generation options: a value is accepted exactly if it fits the range in its table row, and the
// option is then set to it.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "engine/api/options_json.h"
#include "tests/fuzz/support/any_json.h"

namespace gpt2::fuzz {
namespace {

std::string AnyName(FuzzedDataProvider& input) {
  const auto numbers = NumberOptions();
  const auto flags = FlagOptions();
  const std::size_t choices = numbers.size() + flags.size() + 2;
  const auto choice = input.ConsumeIntegralInRange<std::size_t>(0, choices - 1);
  if (choice < numbers.size()) return std::string(numbers[choice].name);
  if (choice < numbers.size() + flags.size()) {
    return std::string(flags[choice - numbers.size()].name);
  }
  return choice + 1 < choices ? std::string(kStopOption) : input.ConsumeRandomLengthString(8);
}

// A value inside the range of an option, at an end, or just outside.
Json NearRange(FuzzedDataProvider& input, const NumberOption& option) {
  switch (input.ConsumeIntegralInRange<int>(0, 4)) {
    case 0:
      return option.least;
    case 1:
      return option.most;
    case 2:
      return std::nextafter(option.least, -1e300);
    case 3:
      return std::nextafter(option.most, 1e300);
    default:
      const double value = input.ConsumeFloatingPointInRange(option.least, option.most);
      return option.is_whole && input.ConsumeBool() ? std::floor(value) : value;
  }
}

Json AnyValue(FuzzedDataProvider& input, const std::string& name) {
  for (const NumberOption& option : NumberOptions()) {
    if (option.name == name && input.ConsumeBool()) return NearRange(input, option);
  }
  return AnyJson(input);
}

bool IsStop(const Json& value) {
  const auto is_text = [](const Json& text) {
    return text.is_string() && text != "" &&
           text.get_ref<const std::string&>().size() <= kMostStopBytes;
  };
  if (!value.is_array()) return is_text(value);
  return value.size() <= kMostStops && std::all_of(value.begin(), value.end(), is_text);
}

// Whether `value` fits the option `name` according to its table row.
bool Fits(const std::string& name, const Json& value) {
  for (const NumberOption& option : NumberOptions()) {
    if (option.name != name) continue;
    if (!value.is_number()) return false;
    const double number = value.get<double>();
    return number >= option.least && number <= option.most &&
           (!option.is_whole || std::trunc(number) == number);
  }
  for (const FlagOption& option : FlagOptions()) {
    if (option.name == name) return value.is_boolean();
  }
  return name == kStopOption && IsStop(value);
}

void CheckTaken(const Json& json, const GenerateOptions& options) {
  for (const NumberOption& option : NumberOptions()) {
    const GenerateOptions defaults;
    const std::string name(option.name);
    const double wanted = json.contains(name) ? json[name].get<double>() : option.get(defaults);
    Check(option.get(options) == wanted, name);
  }
  const auto flags = [](const GenerateOptions& o) {
    return std::array{o.lookup, o.heal, o.ignore_eos, o.strict, o.allow_special};
  };
  GenerateOptions wanted;
  for (const FlagOption& option : FlagOptions()) {
    option.set(wanted, json.value(std::string(option.name), option.is_on));
  }
  Check(flags(options) == flags(wanted), "flags");
  const Json stop = json.value(std::string(kStopOption), Json::array());
  Check(Json(options.stop) == (stop.is_string() ? Json::array({stop}) : stop), "stop");
}

}  // namespace
}  // namespace gpt2::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpt2;
  using namespace gpt2::fuzz;
  Json json;
  if (size > 0 && data[0] == '{') {
    const Result<ParsedJson> parsed = ParseJson(AsText(data, size), "options");
    if (!parsed.ok()) return 0;
    json = *parsed.value();
  } else {
    FuzzedDataProvider input(data, size);
    json = input.ConsumeBool() ? AnyJson(input) : Json::object();
    while (json.is_object() && input.remaining_bytes() > 0) {
      const std::string name = AnyName(input);
      json[name] = AnyValue(input, name);
    }
  }
  bool fits = json.is_object();
  if (fits) {
    for (const auto& [name, value] : json.items()) fits &= Fits(name, value);
  }
  const Result<GenerateOptions> options = ReadGenerateOptions(json, {});
  Check(options.ok() == fits, fits ? "refused, though it fits" : "taken, though it does not fit");
  if (options.ok()) CheckTaken(json, options.value());
  return 0;
}
