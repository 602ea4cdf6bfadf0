#include "engine/format/config_json.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/format/config_keys.h"
#include "engine/format/json.h"
#include "engine/format/stored_weights.h"
#include "engine/kernels/kernels.h"
#include "engine/kernels/layout.h"
#include "engine/model/config.h"
#include "engine/text/quoted.h"

namespace gpt2 {
namespace {

// Far above GPT-2 1.5B (width 1600), but low enough that no size computed from them overflows.
constexpr std::int64_t kMostWidth = 1 << 16;
constexpr std::int64_t kMostPositions = 1 << 20;
constexpr std::size_t kMostOtherHeads = 8;

Error Bad(const std::string& what) {
  return Error{ErrorCode::kUnsupported, Concat("config.json: ", what)};
}

// The value of a key that may be absent or null.
const Json* FindValue(const Json& json, std::string_view key) {
  const Json* const value = FindMember(json, key);
  return value != nullptr && value->is_null() ? nullptr : value;
}

// The default is `usual`, as in GPT2Config and GPTBigCodeConfig of transformers, if the file names
// its kind: other JSON is no config. `other_name` is the same size in all models (attribute_map).
Result<std::size_t> ReadSize(const Json& json, const char* key, std::size_t usual,
                             std::int64_t most, const char* other_name = nullptr) {
  const Json* json_value = FindMember(json, key);
  const Json* const other = other_name == nullptr ? nullptr : FindMember(json, other_name);
  if (json_value == nullptr) json_value = other;
  if (json_value == nullptr && FindMember(json, "model_type") != nullptr) return usual;
  if (json_value == nullptr) return Bad(Concat("\"", key, "\" and \"model_type\" are missing"));
  if (other != nullptr && Shown(*other) != Shown(*json_value)) {
    return Bad(Concat("\"", key, "\" is ", Shown(*json_value), ", but \"", other_name, "\" is ",
                      Shown(*other), ": both name one size, expected equal values"));
  }
  const auto value = WholeNumber(*json_value, 1, most);
  if (!value) {
    return Bad(Concat("\"", key, "\" is ", Shown(*json_value),
                      ", expected a whole number from 1 to ", most));
  }
  return static_cast<std::size_t>(*value);
}

// The names in transformers (activations.py, ACT2CLS). The first name of each function is its own.
struct NamedActivation {
  std::string_view name;
  Activation activation;
};
constexpr NamedActivation kActivations[] = {{"gelu_new", Activation::kGeluTanh},
                                            {"gelu", Activation::kGeluErf},
                                            {"relu", Activation::kRelu},
                                            {"silu", Activation::kSilu},
                                            {"quick_gelu", Activation::kQuickGelu},
                                            {"swish", Activation::kSilu},
                                            {"gelu_fast", Activation::kGeluTanh},
                                            {"gelu_pytorch_tanh", Activation::kGeluTanh},
                                            {"gelu_python_tanh", Activation::kGeluTanh},
                                            {"gelu_accurate", Activation::kGeluTanh},
                                            {"gelu_python", Activation::kGeluErf}};

Result<Activation> ReadActivation(const Json& json) {
  const Json* const name = FindMember(json, "activation_function");
  if (name == nullptr) return Activation::kGeluTanh;
  std::string names;
  for (const NamedActivation& known : kActivations) {
    if (IsText(*name, known.name)) return known.activation;
    names += Concat(names.empty() ? "" : ", ", Quoted(known.name));
  }
  return Bad(Concat("\"activation_function\" is ", Shown(*name), ", expected one of ", names));
}

// A boolean value. Python treats null as false.
Result<bool> ReadFlag(const Json& json, const char* key, bool otherwise) {
  const Json* const value = FindMember(json, key);
  if (value == nullptr) return otherwise;
  if (value->is_null()) return false;
  if (value->is_boolean()) return value->get<bool>();
  return Bad(Concat("\"", key, "\" is ", Shown(*value), ", expected true or false"));
}

Result<float> ReadEpsilon(const Json& json, float otherwise) {
  const Json* const value = FindMember(json, "layer_norm_epsilon");
  if (value == nullptr) return otherwise;
  // Compared as a float, which the engine uses: 1e-60 would be zero.
  const float epsilon = value->is_number() ? value->get<float>() : 0.0f;
  if (epsilon >= std::numeric_limits<float>::min() && epsilon < 1.0f) return epsilon;
  return Bad(
      Concat("\"layer_norm_epsilon\" is ", Shown(*value), ", expected a number from 1.2e-38 to 1"));
}

// Tiny test models keep GPT-2's own 50256, others use -1. An id outside the vocabulary means that
// there is none.
Status ReadEndOfText(const Json& json, Config& c) {
  const Json* const value = FindValue(json, "eos_token_id");
  if (value == nullptr) return Done{};
  const auto read = [&](const Json& json_id) -> Status {
    const auto id = WholeNumber(json_id, std::numeric_limits<std::int64_t>::min(),
                                std::numeric_limits<std::int64_t>::max());
    if (!id) {
      return Bad(Concat("\"eos_token_id\" is ", Shown(json_id),
                        ", expected a token id, an array of them, or null"));
    }
    if (*id < 0 || static_cast<std::uint64_t>(*id) >= c.vocab_size) return Done{};
    const auto token = static_cast<std::int32_t>(*id);
    if (c.eos_token_id) {
      c.other_eos_token_ids.push_back(token);
    } else {
      c.eos_token_id = token;
    }
    return Done{};
  };
  if (!value->is_array()) return read(*value);
  for (const Json& id : *value) GPT2_TRY(read(id));
  return Done{};
}

Result<std::optional<StoredWeights>> ReadStoredWeights(const Json& json) {
  using Found = std::optional<StoredWeights>;
  const Json* const quantization = FindMember(json, kQuantizationConfigKey);
  if (quantization == nullptr) return Found();
  const Json* const method = FindMember(*quantization, kQuantMethodKey);
  const Json* const name = FindMember(*quantization, kWeightsKey);
  if (method == nullptr || !IsText(*method, kFormatName) || name == nullptr) {
    return Bad(Concat("\"quantization_config\" is ", Shown(*quantization),
                      ", expected {\"quant_method\": \"gpt2-wasm\", \"weights\": ...}"));
  }
  const Json* const group_size = FindMember(*quantization, kGroupSizeKey);
  if (group_size != nullptr && !WholeNumber(*group_size, kGroup, kGroup)) {
    return Bad(Concat("\"group_size\" is ", Shown(*group_size), ", expected ", kGroup));
  }
  for (const StoredWeights weights : kConvertedWeights) {
    if (IsText(*name, StoredWeightsName(weights))) return Found(weights);
  }
  return Bad(Concat("\"weights\" in \"quantization_config\" is ", Shown(*name),
                    ", expected \"f32\", \"f16\", \"q8\" or \"q4\""));
}

// Reads the heads that the conversion left out, with a warning; none if it is not a list of names.
void ReadOtherHeads(const Json& json, ModelConfig& model) {
  const Json* const quantization = FindMember(json, kQuantizationConfigKey);
  const Json* const list =
      quantization == nullptr ? nullptr : FindMember(*quantization, kOtherHeadsKey);
  if (list == nullptr || !list->is_array() || list->size() > kMostOtherHeads) return;
  std::string names;
  for (const Json& head : *list) {
    if (!head.is_string()) continue;
    model.other_heads.push_back(head.get_ref<const std::string&>());
    names += Concat(names.empty() ? "" : ", ", Quoted(model.other_heads.back() + ".*"));
  }
  if (names.empty()) return;
  model.warnings.push_back(
      Concat("model.safetensors: not used, because the language model does not need it: ", names));
}

Status ReadModelType(const Json& json, Config& c) {
  const Json* const type = FindMember(json, "model_type");
  if (type == nullptr || IsText(*type, "gpt2")) return Done{};
  c.is_bigcode = IsText(*type, kBigCodeType);
  if (c.is_bigcode) return Done{};
  return Bad(
      Concat("\"model_type\" is ", Shown(*type), ", expected \"gpt2\" or \"", kBigCodeType, "\""));
}

// Whether the heads of a GPT-BigCode share one key and one value. Transformers also writes their
// number, but does not read it (GPTBigCodeConfig).
Status ReadKeyHeads(const Json& json, Config& c) {
  GPT2_ASSIGN(c.multi_query, ReadFlag(json, "multi_query", true));
  constexpr const char* kKey = "num_key_value_heads";
  const Json* const heads = FindValue(json, kKey);
  const auto expected = static_cast<std::int64_t>(c.n_kv_head());
  if (heads == nullptr || WholeNumber(*heads, expected, expected)) return Done{};
  return Bad(Concat("\"", kKey, "\" is ", Shown(*heads), ", expected ", expected,
                    ", as \"multi_query\" says"));
}

// Every size that the engine computes from `c` must fit std::size_t, which has 32 bits in
// WebAssembly. The largest are a matrix with its padding, and the KV cache with its padding, in
// floats.
Status CheckAddressable(const Config& c) {
  const auto padded = [](std::uint64_t size, std::uint64_t multiple) {
    return (size + multiple - 1) / multiple * multiple;
  };
  const auto matrix = [&](std::uint64_t out, std::uint64_t in) {
    return padded(out, kTileRows) * padded(in, kGroup);
  };
  const std::uint64_t cache = std::uint64_t{2} * c.n_layer * c.n_kv_head() *
                              padded(c.head_dim(), 4) * padded(c.n_positions, kKvBlock);
  const std::uint64_t largest = std::max(
      {matrix(c.vocab_size, c.n_embd), matrix(c.n_inner, c.n_embd), matrix(c.n_embd, c.n_inner),
       matrix(c.qkv_width(), c.n_embd), matrix(c.n_positions, c.n_embd), cache});
  // Half the address space: pointers into one block must be comparable, and other data needs room.
  if (largest <= std::numeric_limits<std::size_t>::max() / (2 * sizeof(float))) return Done{};
  return Bad(Concat("a model of this shape has a matrix of ", largest,
                    " values, more than this build can address"));
}

}  // namespace

std::string_view ActivationName(Activation activation) {
  for (const NamedActivation& known : kActivations) {
    if (known.activation == activation) return known.name;
  }
  return {};
}

Result<ModelConfig> ReadConfigJson(std::string_view text) {
  GPT2_ASSIGN(const ParsedJson parsed, ParseJson(text, "config.json"));
  const Json& json = *parsed;
  if (!json.is_object()) return Bad(Concat("expected an object, found ", Shown(json)));
  ModelConfig model;
  Config& c = model.config;
  GPT2_TRY(ReadModelType(json, c));
  GPT2_ASSIGN(c.n_embd, ReadSize(json, "n_embd", 768, kMostWidth, "hidden_size"));
  GPT2_ASSIGN(c.n_head, ReadSize(json, "n_head", 12, kMostWidth, "num_attention_heads"));
  GPT2_ASSIGN(c.n_layer,
              ReadSize(json, "n_layer", 12, std::int64_t{kMostLayers}, "num_hidden_layers"));
  GPT2_ASSIGN(c.vocab_size, ReadSize(json, "vocab_size", 50257, std::int64_t{kMostVocabulary}));
  constexpr const char* kPositions = "max_position_embeddings";
  const bool has_positions =
      FindMember(json, "n_positions") != nullptr || FindMember(json, kPositions) != nullptr;
  GPT2_ASSIGN(c.n_positions, has_positions
                                 ? ReadSize(json, "n_positions", 1024, kMostPositions, kPositions)
                                 : ReadSize(json, "n_ctx", 1024, kMostPositions));
  c.n_inner = 4 * c.n_embd;
  if (FindValue(json, "n_inner") != nullptr) {
    GPT2_ASSIGN(c.n_inner, ReadSize(json, "n_inner", c.n_inner, 4 * kMostWidth));
  }
  if (c.n_embd % c.n_head != 0) {
    return Bad(Concat("\"n_embd\" ", c.n_embd, " is not a multiple of \"n_head\" ", c.n_head));
  }
  if (c.head_dim() > kMaxHeadDim) {
    return Bad(
        Concat("each head has ", c.head_dim(), " dimensions, expected at most ", kMaxHeadDim));
  }
  if (c.is_bigcode) GPT2_TRY(ReadKeyHeads(json, c));
  GPT2_TRY(CheckAddressable(c));
  GPT2_ASSIGN(c.activation, ReadActivation(json));
  GPT2_ASSIGN(c.scale_attn_weights, ReadFlag(json, "scale_attn_weights", true));
  GPT2_ASSIGN(c.scale_attn_by_inverse_layer_idx,
              ReadFlag(json, "scale_attn_by_inverse_layer_idx", false));
  GPT2_ASSIGN(c.tie_word_embeddings, ReadFlag(json, "tie_word_embeddings", true));
  GPT2_ASSIGN(c.layer_norm_epsilon, ReadEpsilon(json, c.layer_norm_epsilon));
  GPT2_TRY(ReadEndOfText(json, c));
  GPT2_ASSIGN(model.weights, ReadStoredWeights(json));
  GPT2_TRY(CheckConfigKeys(json, c.is_bigcode, model.warnings));
  ReadOtherHeads(json, model);
  return model;
}

}  // namespace gpt2
