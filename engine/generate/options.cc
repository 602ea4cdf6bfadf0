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

constexpr double kMostExact = 9007199254740991;  // 2^53 - 1: exact in a JavaScript number

template <typename T>
void Set(GenerateOptions& options, T GenerateOptions::* field, double value) {
  options.*field = static_cast<T>(value);
  // The caller's limit for new tokens overrides the model's limit for all tokens.
  if constexpr (std::is_same_v<T, std::size_t>) {
    if (field == &GenerateOptions::max_new_tokens) options.max_length = 0;
  }
}

#define GPT2_NUMBER(name, hub_name, is_whole, least, most, field, help)              \
  {name,                                                                             \
   hub_name,                                                                         \
   is_whole,                                                                         \
   least,                                                                            \
   most,                                                                             \
   help,                                                                             \
   [](GenerateOptions& o, double value) { Set(o, &GenerateOptions::field, value); }, \
   [](const GenerateOptions& o) { return static_cast<double>(o.field); }}

constexpr NumberOption kNumbers[] = {
    GPT2_NUMBER("maxNewTokens", "max_new_tokens", true, 0, kMostTokens, max_new_tokens,
                "Generate at most this many tokens"),
    GPT2_NUMBER("temperature", "temperature", false, 0, 100, temperature,
                "Randomness: 0 takes the most probable token, 1 samples as the model predicts"),
    GPT2_NUMBER("topK", "top_k", true, 0, kMostTokens, top_k,
                "Keep this many of the most probable tokens; 0 keeps all"),
    GPT2_NUMBER("topP", "top_p", false, 0, 1, top_p,
                "Keep the fewest tokens with this much probability together; 1 keeps all"),
    GPT2_NUMBER("minP", "min_p", false, 0, 1, min_p,
                "Keep tokens with at least this share of the top token's probability; 0 keeps all"),
    GPT2_NUMBER("typicalP", "typical_p", false, 0, 1, typical_p,
                "Keep the tokens closest to the expected surprise, with this much probability "
                "together; 1 keeps all"),
    GPT2_NUMBER("noRepeatNgramSize", "no_repeat_ngram_size", true, 0, kMostTokens,
                no_repeat_ngram_size,
                "Never generate the same sequence of this many tokens twice; 0 allows repetition"),
    GPT2_NUMBER("repetitionPenalty", "repetition_penalty", false, 0.01, 100, repetition_penalty,
                "Above 1, make tokens of the text so far less likely"),
    GPT2_NUMBER("n", "", true, 1, kMostContinuations, n,
                "Generate this many continuations at once, with the seeds SEED, SEED + 1, ..."),
    GPT2_NUMBER("seed", "", true, 0, kMostExact, seed, "The same seed gives the same text"),
    GPT2_NUMBER("logprobs", "", true, 0, 100, logprobs, "Alternatives to report with each token"),
};

#undef GPT2_NUMBER

constexpr FlagOption kFlags[] = {
    {"lookup", "Do not draft tokens from earlier text: the same output, but more slowly", true,
     [](GenerateOptions& o, bool on) { o.lookup = on; }},
    {"heal", "Complete the last word of the prompt: write its last tokens again", false,
     [](GenerateOptions& o, bool on) { o.heal = on; }},
    {"ignoreEos", "Continue after the end-of-text token", false,
     [](GenerateOptions& o, bool on) { o.ignore_eos = on; }},
    {"strict", "Refuse a text that does not fit the context instead of cutting it", false,
     [](GenerateOptions& o, bool on) { o.strict = on; }},
    {"allowSpecial", "Read <|endoftext|> in the prompt as the token, not as text", false,
     [](GenerateOptions& o, bool on) { o.allow_special = on; }},
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
