// The options of a generation, with names, ranges and defaults in one list.
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

// Filters apply in the order of Hugging Face transformers (generation/utils.py,
// _get_logits_processor): repetition penalty, no-repeat n-grams, temperature, top-k, top-p, min-p,
// typical-p.
struct GenerateOptions {
  std::size_t max_new_tokens = 64;
  std::size_t max_length = 0;  // limit for prompt and new tokens, set by a model; 0: no limit
  double temperature = 0.8;    // logits / temperature; 0: always the most probable token
  std::size_t top_k = 40;      // keep the k most probable; 0: all (Fan et al. 2018)
  double top_p = 0.95;         // keep the fewest with this much probability (Holtzman et al. 2020)
  double min_p = 0.0;  // keep those with min_p of the top one's probability (Nguyen et al. 2024)
  double typical_p = 1.0;  // keep the tokens closest to the expected surprise, up to this much
                           // probability (Meister et al. 2022)
  std::size_t no_repeat_ngram_size = 0;  // write no run of this many tokens twice; 0: allow all
  double repetition_penalty =
      1.0;  // seen tokens: positive logits / p, negative * p (Keskar et al. 2019)
  std::uint64_t seed = 0;
  std::size_t logprobs = 0;       // number of alternatives to report with each token
  std::size_t n = 1;              // continuations to write, at most kMostContinuations
  bool lookup = true;             // draft from the text so far; gives the same tokens sooner
  bool heal = false;              // rewrite the end of the prompt's last word: see TokenHealer
  bool ignore_eos = false;        // continue after the end-of-text token
  bool strict = false;            // refuse what does not fit the context instead of cutting it
  bool allow_special = false;     // "<|endoftext|>" in the prompt is the token, not text
  std::vector<std::string> stop;  // end before any of these
  std::vector<std::int32_t> eos_token_ids;  // end the text; empty: those of the model's config
};

// The limit for n. The last logits of so many continuations fit Context::kLogitTokens.
inline constexpr std::size_t kMostContinuations = 16;

// The limit for every number of tokens in a request. It equals the largest vocabulary
// (kMostVocabulary in format/config_json.h), and is more than any text needs.
inline constexpr double kMostTokens = 1 << 24;

// A numeric option from `least` to `most`; whole numbers only if `is_whole`.
struct NumberOption {
  std::string_view name;      // as in the web API; the command line spells it --in-kebab-case
  std::string_view hub_name;  // in generation_config.json; empty: not settable there
  bool is_whole;
  double least;
  double most;
  std::string_view help;
  void (*set)(GenerateOptions&, double);
  double (*get)(const GenerateOptions&);
};

// A boolean option.
struct FlagOption {
  std::string_view name;  // on the command line --name, or --no-name if it is on by default
  std::string_view help;  // what that argument does
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
