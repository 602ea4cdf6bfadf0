#include "engine/generate/options.h"

#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"

namespace gpt2 {
namespace {

template <typename T>
void Set(GenerateOptions& options, T GenerateOptions::* field, double value) {
  options.*field = static_cast<T>(value);
  // The caller's limit for new tokens overrides the model's limit for all tokens.
  if constexpr (std::is_same_v<T, std::size_t>) {
    if (field == &GenerateOptions::max_new_tokens) options.max_length = 0;
  }
}

constexpr NumberOption kNumbers[] = {
#define GPT2_NUMBER(name, field, type, hub_name, least, most, initial, help)         \
  {name,                                                                             \
   hub_name,                                                                         \
   std::is_integral_v<type>,                                                         \
   least,                                                                            \
   most,                                                                             \
   [](GenerateOptions& o, double value) { Set(o, &GenerateOptions::field, value); }, \
   [](const GenerateOptions& o) { return static_cast<double>(o.field); }},
#include "generated/options.inc"
};

constexpr FlagOption kFlags[] = {
#define GPT2_FLAG(name, field, initial, help) \
  {name, initial, [](GenerateOptions& o, bool on) { o.field = on; }},
#include "generated/options.inc"
};

}  // namespace

std::span<const NumberOption> NumberOptions() {
  return kNumbers;
}
std::span<const FlagOption> FlagOptions() {
  return kFlags;
}

bool SetNumber(const NumberOption& option, double value, GenerateOptions& options) {
  const bool fits = value >= option.least && value <= option.most &&
                    (!option.is_whole || value == std::floor(value));
  if (fits) option.set(options, value);
  return fits;
}

Status SetStop(std::vector<std::string> stop, GenerateOptions& options) {
  const auto bad = [](const std::string& what) {
    return Error{ErrorCode::kInvalidArgument, Concat("stop has ", what)};
  };
  if (stop.size() > kMostStops) {
    return bad(Concat(stop.size(), " strings, expected at most ", kMostStops));
  }
  for (const std::string& text : stop) {
    if (text.empty()) return bad("an empty string, expected text");
    if (text.size() > kMostStopBytes) {
      return bad(Concat("a string of ", text.size(), " bytes, expected at most ", kMostStopBytes));
    }
  }
  options.stop = std::move(stop);
  return Done{};
}

}  // namespace gpt2
