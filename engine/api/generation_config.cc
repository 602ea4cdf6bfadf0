#include "engine/api/generation_config.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/options_json.h"
#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/format/json_writer.h"
#include "engine/format/tokenizer_fields.h"
#include "engine/generate/options.h"
#include "engine/text/quoted.h"

namespace gpt2 {
namespace {

Error InFile(const std::string& what) {
  return Error{ErrorCode::kCorrupt, Concat("generation_config.json: ", what)};
}

// Settings that do not change the text, or that are read elsewhere (GenerationConfig in
// transformers/generation/configuration_utils.py).
constexpr std::string_view kHarmless[] = {"_from_model_config",
                                          "transformers_version",
                                          "bos_token_id",
                                          "pad_token_id",
                                          "eos_token_id",
                                          "decoder_start_token_id",
                                          "do_sample",
                                          "max_length",
                                          "use_cache",
                                          "cache_implementation",
                                          "cache_config",
                                          "return_legacy_cache",
                                          "output_attentions",
                                          "output_hidden_states",
                                          "output_scores",
                                          "output_logits",
                                          "return_dict_in_generate",
                                          "num_return_sequences",
                                          "prompt_lookup_num_tokens",
                                          "num_assistant_tokens",
                                          "num_assistant_tokens_schedule",
                                          "assistant_confidence_threshold",
                                          "compile_config",
                                          "disable_compile",
                                          "generation_kwargs"};
// These have no effect at 1; all others at 0, false, null or empty.
constexpr std::string_view kNeutralAtOne[] = {"num_beams", "num_beam_groups", "length_penalty",
                                              "encoder_repetition_penalty", "guidance_scale"};

template <std::size_t kSize>
bool IsAmong(const std::string_view (&names)[kSize], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool IsNeutral(std::string_view key, const Json& value) {
  if (value.is_null()) return true;
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number()) return value.get<double>() == (IsAmong(kNeutralAtOne, key) ? 1 : 0);
  return value.empty();
}

bool IsOption(std::string_view key) {
  for (const NumberOption& option : NumberOptions()) {
    if (option.hub_name == key) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> IgnoredSettings(std::string_view text) {
  std::vector<std::string> warnings;
  const auto json = ParseJson(text, "generation_config.json");
  if (!json.ok() || !(*json.value()).is_object()) return warnings;
  for (const auto& [key, value] : (*json.value()).get_ref<const Json::object_t&>()) {
    if (IsAmong(kHarmless, key) || IsOption(key) || IsNeutral(key, value)) continue;
    warnings.push_back(Concat("generation_config.json: ", Quoted(key), " is ", Shown(value),
                              ", which is ignored"));
  }
  return warnings;
}

Result<GenerateOptions> ReadGenerationConfig(std::string_view text) {
  GPT2_ASSIGN(const ParsedJson json, ParseJson(text, "generation_config.json"));
  if (!json->is_object()) return InFile(Concat("it is ", Shown(*json), ", expected an object"));
  GenerateOptions options;
  for (const NumberOption& option : NumberOptions()) {
    if (option.hub_name.empty()) continue;
    std::string key(option.hub_name);
    const Json* value = field::FindValue(*json, key);
    if (value == nullptr && key == "max_new_tokens")
      value = field::FindValue(*json, key = "max_length");
    if (value == nullptr) continue;
    const Status status = ReadNumber(option, key, *value, options);
    if (!status.ok()) return InFile(status.error().message);
    // The default of transformers counts new tokens only.
    if (key == "max_length" && options.max_new_tokens != 20) {
      options.max_length = options.max_new_tokens;
    }
  }
  if (const Json* const samples = field::FindValue(*json, "do_sample")) {
    if (!samples->is_boolean()) {
      return InFile(Concat("do_sample is ", Shown(*samples), ", expected true or false"));
    }
    if (!samples->get<bool>()) options.temperature = 0;
  }
  if (const Json* const end = field::FindValue(*json, "eos_token_id")) {
    Json found = Json::array();
    for (const Json& id : end->is_array() ? *end : Json::array({*end})) {
      // As in config.json, a negative id means that there is none.
      if (!WholeNumber(id, std::numeric_limits<std::int64_t>::min(), -1)) found.push_back(id);
    }
    const auto ids = ReadTokenIds(found);
    if (!ids.ok()) return InFile(Concat("eos_token_id: ", ids.error().message));
    options.eos_token_ids = ids.value();
  }
  return options;
}

void WriteDefaults(const GenerateOptions& defaults, JsonWriter& out) {
  out.Open('{');
  for (const NumberOption& option : NumberOptions()) {
    if (!option.hub_name.empty()) out.Member(option.name, option.get(defaults));
  }
  if (defaults.max_length > 0) out.Member("maxLength", defaults.max_length);
  out.Close('}');
}

}  // namespace gpt2
