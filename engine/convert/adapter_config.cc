#include "engine/convert/adapter_config.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/format/config_json.h"
#include "engine/format/json.h"
#include "engine/format/weight_plan.h"
#include "engine/text/quoted.h"

namespace gpt2 {
namespace {

constexpr std::int64_t kMostRank = 1 << 16;
// Entries of a list. Each is compared with each module.
constexpr std::size_t kMostEntries = kMostLayers;

// Settings that affect training or bookkeeping, but not what a trained adapter computes. PEFT sets
// fan_in_fan_out itself by the kind of each module (tuners/lora/model.py, _create_new_module). The
// shapes of A and B do not depend on it.
constexpr std::string_view kWithoutEffect[] = {
    "auto_mapping",   "base_model_name_or_path", "corda_config", "eva_config",
    "fan_in_fan_out", "inference_mode",          "lora_dropout", "lora_ga_config",
    "loftq_config",   "megatron_core",           "peft_version", "qalora_group_size",
    "revision",       "runtime_config"};

// Initial values of A and B. The other kinds start from a part of the base's weights, which PEFT
// then subtracts from the base.
constexpr std::string_view kPlainStarts[] = {"gaussian", "eva", "orthogonal"};

Error Unsupported(const std::string& what) {
  return Error{ErrorCode::kUnsupported, Concat("adapter_config.json: ", what)};
}

Error Unexpected(std::string_view field, const Json& found, std::string_view expected) {
  return Unsupported(Concat("\"", field, "\" is ", Shown(found), ", expected ", expected));
}

// Whether the value of an unknown field switches its feature off.
bool IsOff(const Json& value) {
  if (value.is_null() || IsText(value, "")) return true;
  if (value.is_boolean()) return !value.get<bool>();
  return value.is_structured() && value.empty();
}

// Whether `name` is PEFT's whole name of a module of GPT2LMHeadModel, not only its end.
bool IsWholeName(std::string_view name) {
  return name.starts_with("transformer.") || name == "lm_head";
}

// The end of a module's name, or "^" and the whole name. PEFT treats the keys of patterns as
// regular expressions. Only those that are plain names are accepted here.
std::optional<std::string> ModuleEnd(std::string_view text) {
  constexpr std::string_view kNameCharacters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.";
  const bool is_whole = text.starts_with('^');
  if (is_whole) text.remove_prefix(1);
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '.') continue;
    name += text[i];
  }
  const bool is_name =
      !name.empty() && name.find_first_not_of(kNameCharacters) == std::string::npos;
  const bool begins_right = !is_whole || IsWholeName(name);
  if (!is_name || !begins_right) return std::nullopt;
  return (is_whole ? "^" : "") + CanonicalName(name);
}

class ConfigReader {
 public:
  Status Read(const std::string& field, const Json& value) {
    if (field == "peft_type") return ReadType(value);
    if (field == "task_type") return ReadTask(value);
    if (field == "r") return ReadRank(value);
    if (field == "lora_alpha") return ReadAlpha(value);
    if (field == "use_rslora") return ReadFlag(field, value, config_.divides_by_root);
    if (field == "ensure_weight_tying") return ReadFlag(field, value, config_.keeps_tie);
    if (field == "rank_pattern") return ReadPattern(field, value, config_.ranks);
    if (field == "alpha_pattern") return ReadPattern(field, value, config_.alphas);
    if (field == "target_modules") return ReadTargets(value);
    if (field == "exclude_modules") return ReadExcluded(value);
    if (field == "layers_to_transform") return ReadLayers(value);
    if (field == "layers_pattern") return ReadLayersPattern(value);
    if (field == "modules_to_save") return ReadNames(field, value, config_.saved_modules);
    if (field == "bias") return ReadBias(value);
    if (field == "init_lora_weights") return ReadStart(value);
    const auto* const known =
        std::find(std::begin(kWithoutEffect), std::end(kWithoutEffect), field);
    if (known != std::end(kWithoutEffect) || IsOff(value)) return Done{};
    return Unsupported(Concat(Quoted(field), " is ", Shown(value),
                              ", which this engine does not compute; expected false or null"));
  }

  Result<AdapterConfig> Finish() {
    const char* const missing = !has_type_          ? "peft_type"
                                : config_.rank == 0 ? "r"
                                : !has_alpha_       ? "lora_alpha"
                                                    : nullptr;
    if (missing != nullptr) {
      return Error{ErrorCode::kCorrupt,
                   Concat("adapter_config.json: \"", missing, "\" is missing")};
    }
    return std::move(config_);
  }

 private:
  Status ReadType(const Json& value) {
    has_type_ = true;
    return IsText(value, "LORA") ? Status(Done{}) : Unexpected("peft_type", value, "\"LORA\"");
  }

  static Status ReadTask(const Json& value) {
    if (value.is_null() || IsText(value, "CAUSAL_LM")) return Done{};
    return Unexpected("task_type", value, "\"CAUSAL_LM\"");
  }

  Status ReadRank(const Json& value) {
    const auto rank = WholeNumber(value, 1, kMostRank);
    if (!rank) return Unexpected("r", value, Concat("a whole number from 1 to ", kMostRank));
    config_.rank = static_cast<double>(*rank);
    return Done{};
  }

  Status ReadAlpha(const Json& value) {
    has_alpha_ = true;
    config_.alpha = value.is_number() ? value.get<double>() : NAN;
    return std::isfinite(config_.alpha) ? Status(Done{})
                                        : Unexpected("lora_alpha", value, "a number");
  }

  static Status ReadFlag(const std::string& field, const Json& value, bool& flag) {
    flag = value.is_boolean() && value.get<bool>();
    const bool is_flag = value.is_boolean() || value.is_null();
    return is_flag ? Status(Done{}) : Unexpected(field, value, "true or false");
  }

  static Status ReadPattern(const std::string& field, const Json& value,
                            std::vector<ModuleNumber>& numbers) {
    if (IsOff(value)) return Done{};
    if (!value.is_object() || value.size() > kMostEntries) {
      return Unexpected(field, value, Concat("an object of at most ", kMostEntries, " numbers"));
    }
    for (const auto& [key, number] : value.get_ref<const Json::object_t&>()) {
      const auto module = ModuleEnd(key);
      if (!module) {
        return Unsupported(Concat("\"", field, "\" has the key ", Quoted(key),
                                  ", expected the name of a module, or its end"));
      }
      const bool is_rank = field == "rank_pattern";
      const bool is_right = is_rank ? WholeNumber(number, 1, kMostRank).has_value()
                                    : number.is_number() && std::isfinite(number.get<double>());
      if (!is_right) {
        return Unexpected(field, number, is_rank ? "ranks from 1 on" : "numbers");
      }
      numbers.push_back({*module, number.get<double>()});
    }
    return Done{};
  }

  static Status ReadNames(const std::string& field, const Json& value,
                          std::vector<std::string>& names) {
    if (IsOff(value)) return Done{};
    if (!value.is_array() || value.size() > kMostEntries) {
      return Unexpected(field, value,
                        Concat("an array of at most ", kMostEntries, " names of modules"));
    }
    for (const Json& name : value) {
      if (!name.is_string() || name.get_ref<const std::string&>().empty()) {
        return Unexpected(field, name, "names of modules");
      }
      names.push_back(CanonicalName(name.get_ref<const std::string&>()));
    }
    return Done{};
  }

  // If the file names none, PEFT chooses c_attn for GPT-2 (utils/constants.py).
  Status ReadTargets(const Json& value) {
    if (value.is_string()) return Done{};
    config_.targets.emplace();
    if (IsOff(value)) config_.targets->emplace_back("c_attn");
    GPT2_TRY(ReadNames("target_modules", value, *config_.targets));
    for (std::size_t i = 0; value.is_array() && i < value.size(); ++i) {
      if (IsWholeName(value[i].get_ref<const std::string&>())) {
        config_.whole_targets.push_back(config_.targets->at(i));
      }
    }
    return Done{};
  }

  Status ReadExcluded(const Json& value) {
    if (value.is_string() && !IsOff(value)) {
      return Unexpected("exclude_modules", value, "an array of names of modules");
    }
    return ReadNames("exclude_modules", value, config_.excluded);
  }

  Status ReadLayers(const Json& value) {
    if (value.is_null()) return Done{};
    const auto read = [&](const Json& number) -> Status {
      const auto layer = WholeNumber(number, 0, std::int64_t{kMostLayers});
      if (!layer) return Unexpected("layers_to_transform", number, "numbers of layers from 0 on");
      config_.layers.push_back(static_cast<std::size_t>(*layer));
      return Done{};
    };
    if (!value.is_array()) return read(value);
    if (value.size() > kMostEntries) {
      return Unexpected("layers_to_transform", value, Concat("at most ", kMostEntries, " layers"));
    }
    for (const Json& number : value) GPT2_TRY(read(number));
    return Done{};
  }

  // GPT-2's layers are h.0, h.1, ..., which PEFT also finds without a pattern.
  static Status ReadLayersPattern(const Json& value) {
    const bool is_usual = IsOff(value) || IsText(value, "h") ||
                          (value.is_array() && value.size() == 1 && IsText(value[0], "h"));
    return is_usual ? Status(Done{}) : Unexpected("layers_pattern", value, "\"h\" or null");
  }

  // Trained biases are stored in the file as a whole.
  static Status ReadBias(const Json& value) {
    for (const char* known : {"none", "all", "lora_only"}) {
      if (IsText(value, known)) return Done{};
    }
    return Unexpected("bias", value, "\"none\", \"all\" or \"lora_only\"");
  }

  static Status ReadStart(const Json& value) {
    if (value.is_boolean() || value.is_null()) return Done{};
    for (const std::string_view known : kPlainStarts) {
      if (IsText(value, known)) return Done{};
    }
    return Unexpected("init_lora_weights", value,
                      "true, false, \"gaussian\", \"eva\" or \"orthogonal\": others change the "
                      "base model as well");
  }

  AdapterConfig config_;
  bool has_type_ = false;
  bool has_alpha_ = false;
};

double NumberOf(const std::vector<ModuleNumber>& numbers, std::string_view module,
                double otherwise) {
  for (const auto& [end, number] : numbers) {
    if (ModuleEndsIn(module, end)) return number;
  }
  return otherwise;
}

bool IsAmong(const std::vector<std::string>& ends, std::string_view module) {
  return std::any_of(ends.begin(), ends.end(),
                     [&](const std::string& end) { return ModuleEndsIn(module, end); });
}

bool IsIn(const auto& list, const auto& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// "h.12.attn.c_attn" -> 12
std::optional<std::size_t> LayerOf(std::string_view module) {
  if (!module.starts_with("h.")) return std::nullopt;
  std::size_t layer = 0;
  const auto read = std::from_chars(module.data() + 2, module.data() + module.size(), layer);
  return read.ec == std::errc() ? std::optional(layer) : std::nullopt;
}

}  // namespace

bool ModuleEndsIn(std::string_view module, std::string_view end) {
  if (end.starts_with('^')) return module == end.substr(1);
  if (!module.ends_with(end)) return false;
  return module.size() == end.size() || module[module.size() - end.size() - 1] == '.';
}

std::size_t AdapterConfig::RankOf(std::string_view module) const {
  return static_cast<std::size_t>(NumberOf(ranks, module, rank));
}

double AdapterConfig::ScaleOf(std::string_view module) const {
  const auto r = static_cast<double>(RankOf(module));
  return NumberOf(alphas, module, alpha) / (divides_by_root ? std::sqrt(r) : r);
}

bool AdapterConfig::IsTarget(std::string_view module) const {
  if (!targets || !IsAmong(*targets, module) || IsAmong(excluded, module)) return false;
  // PEFT takes a whole name in any layer (check_target_module_exists).
  if (layers.empty() || IsIn(whole_targets, module)) return true;
  const auto layer = LayerOf(module);
  return layer && IsIn(layers, *layer);
}

Result<AdapterConfig> ReadAdapterConfig(std::string_view text) {
  GPT2_ASSIGN(const ParsedJson parsed, ParseJson(text, "adapter_config.json"));
  if (!parsed->is_object()) {
    return Error{ErrorCode::kCorrupt,
                 Concat("adapter_config.json: expected an object, found ", Shown(*parsed))};
  }
  ConfigReader reader;
  for (const auto& [field, value] : parsed->get_ref<const Json::object_t&>()) {
    GPT2_TRY(reader.Read(field, value));
  }
  return reader.Finish();
}

}  // namespace gpt2
