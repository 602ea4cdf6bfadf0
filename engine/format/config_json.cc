#include "engine/format/config_json.h"

#include <algorithm>
#include <limits>

#include "engine/format/json.h"
#include "engine/kernels/kernels.h"

namespace gpt2 {
namespace {

// Far above GPT-2 1.5B (48 layers, width 1600), low enough that no size computed from them
// overflows.
constexpr std::int64_t kMostLayers = 1 << 10;
constexpr std::int64_t kMostWidth = 1 << 16;
constexpr std::int64_t kMostPositions = 1 << 20;
constexpr std::int64_t kMostTokens = 1 << 24;

Error Bad(const std::string& what) {
  return Error{ErrorCode::kUnsupported, "config.json: " + what};
}

Result<std::size_t> ReadSize(const Json& json, const char* key, std::int64_t most) {
  if (!json.contains(key)) {
    return Bad(std::string("\"") + key + "\" is missing");
  }
  const auto value = WholeNumber(json[key], 1, most);
  if (!value) {
    return Bad(std::string("\"") + key + "\" is " + Shown(json[key]) +
               ", expected a whole number from 1 to " + std::to_string(most));
  }
  return static_cast<std::size_t>(*value);
}

Result<Activation> ReadActivation(const Json& json) {
  const Json name = json.contains("activation_function") ? json["activation_function"] : "gelu_new";
  if (name == "gelu_new" || name == "gelu_pytorch_tanh") return Activation::kGeluTanh;
  if (name == "gelu") return Activation::kGeluErf;
  return Bad("\"activation_function\" is " + Shown(name) +
             ", expected \"gelu_new\", \"gelu_pytorch_tanh\" or \"gelu\"");
}

// The value of a yes-or-no key.
Result<bool> ReadFlag(const Json& json, const char* key, bool otherwise) {
  if (!json.contains(key) || json[key].is_null()) return otherwise;
  if (!json[key].is_boolean()) {
    return Bad(std::string("\"") + key + "\" is " + Shown(json[key]) + ", expected true or false");
  }
  return json[key].get<bool>();
}

// Variants of attention that change the result and that GPT-2 itself does not use.
Status RefuseUnknownVariants(const Json& json) {
  if (json.contains("model_type") && json["model_type"] != "gpt2") {
    return Bad("\"model_type\" is " + Shown(json["model_type"]) + ", expected \"gpt2\"");
  }
  GPT2_ASSIGN(const bool scaled, ReadFlag(json, "scale_attn_weights", true));
  if (!scaled) return Bad("\"scale_attn_weights\": false is not supported");
  GPT2_ASSIGN(const bool by_layer, ReadFlag(json, "scale_attn_by_inverse_layer_idx", false));
  if (by_layer) return Bad("\"scale_attn_by_inverse_layer_idx\": true is not supported");
  return Done{};
}

// No size that the engine computes from `c` may leave std::size_t, which has 32 bits in
// WebAssembly.
Status CheckAddressable(const Config& c) {
  const std::uint64_t embedding = std::uint64_t{c.vocab_size} * c.n_embd;
  const std::uint64_t widest = std::uint64_t{c.n_inner} * c.n_embd;
  const std::uint64_t cache = std::uint64_t{c.n_layer} * c.n_positions * c.n_embd * 2;
  const std::uint64_t attention = std::uint64_t{3} * c.n_embd * c.n_embd;
  const std::uint64_t largest = std::max({embedding, widest, cache, attention});
  // 16: four bytes a value, and twice the room for padding to tiles, groups and blocks.
  if (largest <= std::numeric_limits<std::size_t>::max() / 16) return Done{};
  return Bad("a model of this shape has a matrix of " + std::to_string(largest) +
             " values, more than this build can address");
}

}  // namespace

Result<ModelConfig> ReadConfigJson(std::string_view text) {
  GPT2_ASSIGN(const Json json, ParseJson(text, "config.json"));
  if (!json.is_object()) return Bad("expected an object, found " + Shown(json));
  GPT2_TRY(RefuseUnknownVariants(json));
  ModelConfig model;
  Config& c = model.config;
  GPT2_ASSIGN(c.n_embd, ReadSize(json, "n_embd", kMostWidth));
  GPT2_ASSIGN(c.n_head, ReadSize(json, "n_head", kMostWidth));
  GPT2_ASSIGN(c.n_layer, ReadSize(json, "n_layer", kMostLayers));
  GPT2_ASSIGN(c.vocab_size, ReadSize(json, "vocab_size", kMostTokens));
  GPT2_ASSIGN(c.n_positions, ReadSize(json, json.contains("n_positions") ? "n_positions" : "n_ctx",
                                      kMostPositions));
  c.n_inner = 4 * c.n_embd;
  if (json.contains("n_inner") && !json["n_inner"].is_null()) {
    GPT2_ASSIGN(c.n_inner, ReadSize(json, "n_inner", 4 * kMostWidth));
  }
  if (c.n_embd % c.n_head != 0) {
    return Bad("\"n_embd\" " + std::to_string(c.n_embd) + " is not a multiple of \"n_head\" " +
               std::to_string(c.n_head));
  }
  if (c.head_dim() > kMaxHeadDim) {
    return Bad("heads are " + std::to_string(c.head_dim()) + " wide, at most " +
               std::to_string(kMaxHeadDim) + " is supported");
  }
  GPT2_TRY(CheckAddressable(c));
  GPT2_ASSIGN(c.activation, ReadActivation(json));
  GPT2_ASSIGN(c.tie_word_embeddings, ReadFlag(json, "tie_word_embeddings", true));
  if (json.contains("layer_norm_epsilon")) {
    const Json& epsilon = json["layer_norm_epsilon"];
    if (!epsilon.is_number() || !(epsilon.get<double>() > 0) || !(epsilon.get<double>() < 1)) {
      return Bad("\"layer_norm_epsilon\" is " + Shown(epsilon) + ", expected a number in (0, 1)");
    }
    c.layer_norm_epsilon = epsilon.get<float>();
  }
  if (json.contains("eos_token_id")) {
    // Tiny test models carry GPT-2's own 50256: outside the vocabulary means that there is none.
    const auto eos =
        WholeNumber(json["eos_token_id"], 0, static_cast<std::int64_t>(c.vocab_size) - 1);
    if (eos) c.eos_token_id = static_cast<std::int32_t>(*eos);
  }
  if (json.contains(kQuantizationConfigKey)) {
    const Json& quantization = json[kQuantizationConfigKey];
    if (!quantization.is_object() || quantization.value("quant_method", Json()) != "gpt2-wasm" ||
        !quantization.contains("weights") || !quantization["weights"].is_string()) {
      return Bad("\"quantization_config\" is " + Shown(quantization) +
                 ", expected {\"quant_method\": \"gpt2-wasm\", \"weights\": ...}");
    }
    model.weights = quantization["weights"].get<std::string>();
  }
  return model;
}

}  // namespace gpt2
