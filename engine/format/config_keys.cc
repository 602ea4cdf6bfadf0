#include "engine/format/config_keys.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/text/quoted.h"

namespace gpt2 {
namespace {

// Read by ReadConfigJson.
constexpr std::string_view kRead[] = {"model_type",
                                      "n_embd",
                                      "n_head",
                                      "n_layer",
                                      "n_positions",
                                      "n_inner",
                                      "vocab_size",
                                      "hidden_size",
                                      "num_attention_heads",
                                      "num_hidden_layers",
                                      "max_position_embeddings",
                                      "activation_function",
                                      "layer_norm_epsilon",
                                      "scale_attn_weights",
                                      "scale_attn_by_inverse_layer_idx",
                                      "tie_word_embeddings",
                                      "eos_token_id",
                                      "quantization_config"};

// Change nothing in the logits of GPT2LMHeadModel, or are read from other files. Source:
// transformers, GPT2Config (models/gpt2/configuration_gpt2.py) with those that it had once.
constexpr std::string_view kOfGpt2[] = {"attn_pdrop",
                                        "embd_pdrop",
                                        "resid_pdrop",
                                        "initializer_range",
                                        "n_ctx",
                                        "summary_type",
                                        "summary_use_proj",
                                        "summary_activation",
                                        "summary_proj_to_labels",
                                        "summary_first_dropout",
                                        "use_cache",
                                        "bos_token_id",
                                        "pad_token_id",
                                        "reorder_and_upcast_attn",
                                        "gradient_checkpointing",
                                        "predict_special_tokens"};

// The same of PreTrainedConfig (configuration_utils.py), and what Trainer and others add.
constexpr std::string_view kOfAll[] = {"_name_or_path",
                                       "name_or_path",
                                       "_commit_hash",
                                       "transformers_version",
                                       "architectures",
                                       "torch_dtype",
                                       "dtype",
                                       "_attn_implementation",
                                       "attn_implementation",
                                       "_attn_implementation_autoset",
                                       "return_dict",
                                       "use_return_dict",
                                       "output_hidden_states",
                                       "output_attentions",
                                       "output_past",
                                       "torchscript",
                                       "use_bfloat16",
                                       "chunk_size_feed_forward",
                                       "is_decoder",
                                       "cross_attention_hidden_size",
                                       "tie_encoder_decoder",
                                       "finetuning_task",
                                       "id2label",
                                       "label2id",
                                       "num_labels",
                                       "problem_type",
                                       "task_specific_params",
                                       "tokenizer_class",
                                       "sep_token_id",
                                       "decoder_start_token_id",
                                       "xla_device",
                                       "use_mup",
                                       "unsloth_version",
                                       "unsloth_fixed"};

// GPT2Model computes something else with these, or the model's own code does.
constexpr std::string_view kRefused[] = {"add_cross_attention", "is_encoder_decoder",
                                         "pruned_heads", "auto_map"};

// Settings of GenerationConfig, which transformers takes from here where there is no
// generation_config.json, and the values that say nothing (PretrainedConfig's, until version 4.x).
struct GenerationKey {
  std::string_view name;
  double usual;
};
constexpr GenerationKey kGeneration[] = {{"max_length", 20},
                                         {"min_length", 0},
                                         {"do_sample", 0},
                                         {"early_stopping", 0},
                                         {"num_beams", 1},
                                         {"num_beam_groups", 1},
                                         {"diversity_penalty", 0},
                                         {"temperature", 1},
                                         {"top_k", 50},
                                         {"top_p", 1},
                                         {"typical_p", 1},
                                         {"repetition_penalty", 1},
                                         {"length_penalty", 1},
                                         {"no_repeat_ngram_size", 0},
                                         {"encoder_no_repeat_ngram_size", 0},
                                         {"bad_words_ids", 0},
                                         {"num_return_sequences", 1},
                                         {"output_scores", 0},
                                         {"return_dict_in_generate", 0},
                                         {"forced_bos_token_id", 0},
                                         {"forced_eos_token_id", 0},
                                         {"remove_invalid_values", 0},
                                         {"exponential_decay_length_penalty", 0},
                                         {"suppress_tokens", 0},
                                         {"begin_suppress_tokens", 0},
                                         {"prefix", 0}};

// A key that no list has and whose name has one of these speaks of the forward pass.
constexpr std::string_view kWordsOfForwardPass[] = {
    "rotary",     "rope",   "alibi", "head",     "kv",           "attn",     "attention", "query",
    "norm",       "embd",   "embed", "position", "expert",       "moe",      "window",    "sparse",
    "activation", "hidden", "mlp",   "ffn",      "feed_forward", "inner",    "bias",      "scal",
    "resid",      "layer",  "glu",   "softcap",  "dim",          "parallel", "qk"};

constexpr std::size_t kMostNamed = 8;  // in one sentence

template <std::size_t kSize>
bool IsAmong(const std::string_view (&names)[kSize], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// False, 0, null, "", [] or {}.
bool IsNothing(const Json& value) {
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number()) return value.get<double>() == 0;
  return value.empty() || IsText(value, "");
}

bool IsUsual(const GenerationKey& key, const Json& value) {
  if (value.is_number()) return value.get<double>() == key.usual;
  return IsNothing(value);
}

// Dropout acts in training alone.
bool IsDropout(std::string_view key) {
  return key.find("dropout") != std::string_view::npos || key.ends_with("drop");
}

bool SpeaksOfForwardPass(std::string_view key) {
  for (const std::string_view word : kWordsOfForwardPass) {
    if (key.find(word) != std::string_view::npos) return true;
  }
  return false;
}

Error Refused(std::string_view key, const Json& value, std::string_view why) {
  return Error{ErrorCode::kUnsupported,
               Concat("config.json: ", Quoted(key), " is ", Shown(value), ", ", why)};
}

}  // namespace

Status CheckConfigKeys(const Json& config, std::vector<std::string>& warnings) {
  std::string ignored;
  std::size_t count = 0;
  for (const auto& [key, value] : config.get_ref<const Json::object_t&>()) {
    const bool is_known = IsAmong(kRead, key) || IsAmong(kOfGpt2, key) || IsAmong(kOfAll, key);
    if (is_known || value.is_null() || IsDropout(key)) continue;
    if (IsAmong(kRefused, key)) {
      if (IsNothing(value)) continue;
      return Refused(key, value,
                     key == "auto_map" ? "code of the model's own, which this engine does not run"
                                       : "which this engine does not compute");
    }
    const auto* const setting = std::find_if(std::begin(kGeneration), std::end(kGeneration),
                                             [&](const auto& known) { return known.name == key; });
    if (setting != std::end(kGeneration)) {
      if (IsUsual(*setting, value)) continue;
    } else if (SpeaksOfForwardPass(key) && !IsNothing(value)) {
      return Refused(key, value, "a key that GPT-2 does not have and that may change its result");
    }
    if (++count <= kMostNamed) {
      ignored += Concat(ignored.empty() ? "" : ", ", Quoted(key), ": ", Shown(value));
    }
  }
  if (count == 0) return Done{};
  if (count > kMostNamed) ignored += Concat(" and ", count - kMostNamed, " more");
  warnings.push_back(Concat("config.json: ignored, as GPT-2 does not have it: ", ignored));
  return Done{};
}

}  // namespace gpt2
