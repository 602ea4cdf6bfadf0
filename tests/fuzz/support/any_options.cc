#include "tests/fuzz/support/any_options.h"

#include <algorithm>
#include <cmath>

#include "engine/api/options_json.h"
#include "tests/fuzz/support/any_json.h"

namespace gpt2::fuzz {
namespace {

// A value of `option` inside its range, at an end, or just outside; or any other.
Json AnyNumber(FuzzedDataProvider& input, const NumberOption& option) {
  const double value = input.ConsumeFloatingPointInRange(option.least, option.most);
  switch (input.ConsumeIntegralInRange<int>(0, 7)) {
    case 0:
      return input.ConsumeBool() ? option.least : option.most;
    case 1:
      return std::nextafter(option.least, -1e300);
    case 2:
      return std::nextafter(option.most, 1e300);
    case 3:
      return AnyJson(input);
    case 4:
      return value;
    default:  // mostly small ones, which do more
      const double some = std::min(value, option.least + input.ConsumeIntegralInRange<int>(0, 20));
      return option.is_whole ? std::floor(some) : some;
  }
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
    const double number = value.is_number() ? value.get<double>() : NAN;
    return number >= option.least && number <= option.most &&
           (!option.is_whole || std::trunc(number) == number);
  }
  for (const FlagOption& option : FlagOptions()) {
    if (option.name == name) return value.is_boolean();
  }
  return name == kStopOption && IsStop(value);
}

}  // namespace

Json AnyOptions(FuzzedDataProvider& input) {
  Json options = Json::object();
  while (input.remaining_bytes() > 0 && input.ConsumeIntegralInRange<int>(0, 3) > 0) {
    if (input.ConsumeBool()) {
      const auto numbers = NumberOptions();
      const NumberOption& option =
          numbers[input.ConsumeIntegralInRange<std::size_t>(0, numbers.size() - 1)];
      options[std::string(option.name)] = AnyNumber(input, option);
    } else if (input.ConsumeBool()) {
      const auto flags = FlagOptions();
      const FlagOption& flag =
          flags[input.ConsumeIntegralInRange<std::size_t>(0, flags.size() - 1)];
      options[std::string(flag.name)] = input.ConsumeBool();
    } else if (input.ConsumeBool()) {
      options[std::string(kStopOption)] = input.PickValueInArray({"a", "ab", "bb", "\xc3\xa9", ""});
    } else {
      options[input.PickValueInArray({"stop", "heal", "kv", "x"})] = AnyJson(input);
    }
  }
  return options;
}

Json FittingOptions(FuzzedDataProvider& input) {
  Json fitting = Json::object();
  const Json options = AnyOptions(input);
  for (const auto& [name, value] : options.items()) {
    if (Fits(name, value)) fitting[name] = value;
  }
  fitting["maxNewTokens"] = input.ConsumeIntegralInRange<int>(0, 12);
  return fitting;
}

void CheckOptions(const Json& json) {
  bool fits = json.is_object();
  if (fits) {
    for (const auto& [name, value] : json.items()) fits &= Fits(name, value);
  }
  const Result<GenerateOptions> options = ReadGenerateOptions(json, {});
  Check(options.ok() == fits, fits ? "refused, though it fits" : "taken, though it does not fit");
  if (!fits) return;
  for (const NumberOption& option : NumberOptions()) {
    const double wanted = json.value(std::string(option.name), option.get({}));
    Check(option.get(options.value()) == wanted, option.name);
  }
}

}  // namespace gpt2::fuzz
