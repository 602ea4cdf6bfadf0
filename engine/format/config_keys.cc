#include "engine/format/config_keys.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/text/quoted.h"

namespace gpt2 {
namespace {

// Lists of names are strings with spaces around each name: a table of views takes several times the
// code.

// Read by ReadConfigJson.
constexpr std::string_view kRead =
    " model_type n_embd n_head n_layer n_positions n_inner vocab_size hidden_size"
    " num_attention_heads num_hidden_layers max_position_embeddings activation_function"
    " layer_norm_epsilon scale_attn_weights tie_word_embeddings eos_token_id quantization_config ";

// Keys that do not change the logits of GPT2LMHeadModel, or are read from other files. Source:
// transformers, GPT2Config (models/gpt2/configuration_gpt2.py) including its former keys, and
// PreTrainedConfig (configuration_utils.py); then those that Unsloth adds.
constexpr std::string_view kHarmless =
    " initializer_range n_ctx summary_type summary_use_proj summary_activation"
    " summary_proj_to_labels use_cache bos_token_id pad_token_id reorder_and_upcast_attn"
    " gradient_checkpointing predict_special_tokens"
    " _name_or_path name_or_path _commit_hash transformers_version architectures torch_dtype dtype"
    " _attn_implementation attn_implementation _attn_implementation_autoset return_dict"
    " use_return_dict output_hidden_states output_attentions output_past torchscript use_bfloat16"
    " chunk_size_feed_forward is_decoder cross_attention_hidden_size tie_encoder_decoder"
    " finetuning_task id2label label2id num_labels problem_type task_specific_params"
    " tokenizer_class sep_token_id decoder_start_token_id xla_device"
    " unsloth_version unsloth_fixed ";

// Only for GPT-2, read by ReadConfigJson.
constexpr std::string_view kOfGpt2 = " scale_attn_by_inverse_layer_idx ";

// Only for GPT-BigCode. ReadConfigJson reads the first two. The keys of softmax select the type in
// which scores are scaled, which changes nothing in float32. The others belong to inference with
// Megatron. Source: GPTBigCodeConfig (models/gpt_bigcode/configuration_gpt_bigcode.py) including
// its former keys.
constexpr std::string_view kOfBigCode =
    " multi_query num_key_value_heads attention_softmax_in_fp32 scale_attention_softmax_in_fp32"
    " validate_runner_input pre_allocate_kv_cache pad_key_length ";

// With these keys GPT2Model, or the model's own code, computes something else.
constexpr std::string_view kRefused =
    " add_cross_attention is_encoder_decoder pruned_heads auto_map ";

// Generation settings without effect at 1. Older releases of transformers write all of them.
constexpr std::string_view kUsuallyOne =
    " num_beams num_beam_groups temperature top_p typical_p repetition_penalty length_penalty"
    " num_return_sequences ";

// An unlisted key whose name contains one of these probably affects the forward pass.
constexpr std::string_view kWordsOfForwardPass =
    "rotary rope alibi head kv attn attention query norm embd embed position expert moe window "
    "sparse activation hidden mlp ffn feed_forward inner bias scal resid layer glu softcap dim "
    "parallel qk ";

constexpr std::size_t kMostNamed = 8;  // in one sentence

bool IsAmong(std::string_view names, const std::string& name) {
  return names.find(Concat(" ", name, " ")) != std::string_view::npos;
}

// Values without effect: false, 0, "", [] or {}, and the neutral value of a generation setting.
bool IsUsual(const std::string& key, const Json& value) {
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number()) {
    const double usual = key == "top_k"              ? 50
                         : key == "max_length"       ? 20
                         : IsAmong(kUsuallyOne, key) ? 1
                                                     : 0;
    return value.get<double>() == usual;
  }
  return value.empty() || IsText(value, "");
}

bool SpeaksOfForwardPass(std::string_view key) {
  // Dropout affects only training.
  if (key.find("drop") != std::string_view::npos) return false;
  for (std::string_view rest = kWordsOfForwardPass; !rest.empty();) {
    const std::size_t end = rest.find(' ');
    if (key.find(rest.substr(0, end)) != std::string_view::npos) return true;
    rest.remove_prefix(end + 1);
  }
  return false;
}

}  // namespace

Status CheckConfigKeys(const Json& config, bool is_bigcode, std::vector<std::string>& warnings) {
  const std::string_view of_kind = is_bigcode ? kOfBigCode : kOfGpt2;
  std::string ignored;
  std::size_t count = 0;
  for (const auto& [key, value] : config.get_ref<const Json::object_t&>()) {
    const bool is_dropout = key.ends_with("dropout") || key.ends_with("pdrop");
    if (value.is_null() || is_dropout || IsAmong(kRead, key) || IsAmong(of_kind, key) ||
        IsAmong(kHarmless, key) || IsUsual(key, value)) {
      continue;
    }
    const bool is_refused = IsAmong(kRefused, key);
    if (is_refused || SpeaksOfForwardPass(key)) {
      return Error{
          ErrorCode::kUnsupported,
          Concat("config.json: ", Quoted(key), " is ", Shown(value),
                 key == "auto_map" ? ", the model's own code, which this engine does not run"
                 : is_refused      ? ", which this engine does not compute"
                 : is_bigcode
                     ? ", a key that GPT-BigCode does not have and that may change its result"
                     : ", a key that GPT-2 does not have and that may change its result")};
    }
    if (++count <= kMostNamed) {
      ignored += Concat(ignored.empty() ? "" : ", ", Quoted(key), ": ", Shown(value));
    }
  }
  if (count == 0) return Done{};
  if (count > kMostNamed) ignored += Concat(" and ", count - kMostNamed, " more");
  warnings.push_back(Concat(is_bigcode
                                ? "config.json: ignored, because GPT-BigCode does not have it: "
                                : "config.json: ignored, because GPT-2 does not have it: ",
                            ignored));
  return Done{};
}

}  // namespace gpt2
