// The options of a generation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace gpt2 {

// The numbers and flags are those of options.json, which documents them. Filters apply in the order
// of Hugging Face transformers (generation/utils.py, _get_logits_processor). The penalties,
// no-repeat n-grams and the minimum of new tokens come first, then the others in the order of the
// table.
struct GenerateOptions {
#define GPT2_NUMBER(name, field, type, hub_name, least, most, initial, help) type field = initial;
#define GPT2_FLAG(name, field, initial, help) bool field = initial;
#include "generated/options.inc"
  std::size_t max_length = 0;     // limit for prompt and new tokens, set by a model; 0: no limit
  std::vector<std::string> stop;  // end before any of these
  std::vector<std::int32_t> eos_token_ids;  // end the text; empty: those of the model's config
};

// The largest value of each numeric option.
struct Most {
#define GPT2_NUMBER(name, field, type, hub_name, least, most, initial, help) \
  static constexpr type field = most;
#include "generated/options.inc"
};

// The last logits of so many continuations fit Context::kLogitTokens.
inline constexpr std::size_t kMostContinuations = Most::n;

// The limit for every number of tokens in a request. It equals the largest vocabulary
// (kMostVocabulary in format/config_json.h), and is more than any text needs.
inline constexpr double kMostTokens = Most::max_new_tokens;

// A numeric option from `least` to `most`; whole numbers only if `is_whole`.
struct NumberOption {
  std::string_view name;      // as in the web API; the command line spells it --in-kebab-case
  std::string_view hub_name;  // in generation_config.json; empty: not settable there
  bool is_whole;
  double least;
  double most;
  void (*set)(GenerateOptions&, double);
  double (*get)(const GenerateOptions&);
};

// A boolean option.
struct FlagOption {
  std::string_view name;  // on the command line --name, or --no-name if it is on by default
  bool is_on;             // by default
  void (*set)(GenerateOptions&, bool);
};

// The remaining option: an array of strings. See SetStop.
inline constexpr std::string_view kStopOption = "stop";

// All numeric options of GenerateOptions, in the order of the help text.
std::span<const NumberOption> NumberOptions();
// All flags of GenerateOptions, likewise.
std::span<const FlagOption> FlagOptions();

// Sets `option` to `value`. Returns false, and sets nothing, if the value is outside its range.
[[nodiscard]] bool SetNumber(const NumberOption& option, double value, GenerateOptions& options);

// Limits of stop strings: their number, and the bytes of each.
inline constexpr std::size_t kMostStops = 256;
inline constexpr std::size_t kMostStopBytes = 1024;

// Sets options.stop. Fails if `stop` exceeds those limits, or has an empty string, which would end
// every text at once.
Status SetStop(std::vector<std::string> stop, GenerateOptions& options);

}  // namespace gpt2
