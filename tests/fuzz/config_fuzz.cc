// config.json: the engine can compute every accepted model, and every valid config is accepted.
#include <string>

#include "engine/format/config_json.h"
#include "engine/kernels/kernels.h"
#include "tests/fuzz/support/any_json.h"

namespace gpt2::fuzz {
namespace {

constexpr const char* kSizes[] = {"n_embd",     "n_head", "n_layer", "n_positions",
                                  "vocab_size", "n_ctx",  "n_inner", "num_key_value_heads"};
constexpr const char* kFlags[] = {"tie_word_embeddings", "scale_attn_weights",
                                  "scale_attn_by_inverse_layer_idx", "multi_query",
                                  "attention_softmax_in_fp32"};

// A config that must be accepted.
Json SoundConfig(FuzzedDataProvider& input) {
  const int n_head = input.ConsumeIntegralInRange<int>(1, 25);
  Json json = {{"n_head", n_head},
               {"n_embd", n_head * input.ConsumeIntegralInRange<int>(1, 512)},
               {"n_layer", input.ConsumeIntegralInRange<int>(1, 64)},
               {"vocab_size", input.ConsumeIntegralInRange<int>(1, 60000)}};
  json[input.ConsumeBool() ? "n_positions" : "n_ctx"] = input.ConsumeIntegralInRange<int>(1, 4096);
  if (input.ConsumeBool()) json["model_type"] = "gpt2";
  if (input.ConsumeBool()) json["n_inner"] = nullptr;
  if (input.ConsumeBool()) json["layer_norm_epsilon"] = 1e-5;
  if (input.ConsumeBool()) json["tie_word_embeddings"] = input.ConsumeBool();
  if (input.ConsumeBool()) json["eos_token_id"] = input.ConsumeIntegral<int>();
  if (input.ConsumeBool()) {
    json["activation_function"] = input.PickValueInArray(
        {"gelu_new", "gelu", "gelu_pytorch_tanh", "relu", "swish", "quick_gelu"});
  }
  for (const char* flag : {"tie_word_embeddings", "scale_attn_weights"}) {
    if (input.ConsumeBool()) json[flag] = input.ConsumeBool();
  }
  if (!input.ConsumeBool()) {
    json["scale_attn_by_inverse_layer_idx"] = input.ConsumeBool();
    return json;
  }
  json["model_type"] = kBigCodeType;
  const bool multi_query = input.ConsumeBool();
  if (!multi_query || input.ConsumeBool()) json["multi_query"] = multi_query;
  if (input.ConsumeBool()) json["num_key_value_heads"] = multi_query ? 1 : n_head;
  if (input.ConsumeBool()) json["attention_softmax_in_fp32"] = input.ConsumeBool();
  return json;
}

// Replaces the values of some keys that the engine reads with any JSON.
void Spoil(FuzzedDataProvider& input, Json& json) {
  do {
    switch (input.ConsumeIntegralInRange<int>(0, 4)) {
      case 0:
        json[input.PickValueInArray(kSizes)] =
            input.ConsumeBool() ? Json(input.ConsumeIntegralInRange<std::int64_t>(-2, 1 << 25))
                                : AnyJson(input);
        break;
      case 1:
        json[input.PickValueInArray(kFlags)] = AnyJson(input);
        break;
      case 2:
        json[input.PickValueInArray({"eos_token_id", "activation_function", "model_type"})] =
            AnyJson(input);
        break;
      case 3:
        json["layer_norm_epsilon"] = AnyJson(input);
        break;
      default:
        json["quantization_config"] = AnyJson(input);
        if (!json["quantization_config"].is_object()) break;
        if (input.ConsumeBool()) json["quantization_config"]["quant_method"] = "gpt2-wasm";
        if (!input.ConsumeBool()) break;
        json["quantization_config"]["weights"] =
            input.PickValueInArray({"f32", "f16", "q8", "q4", "q5", ""});
    }
  } while (input.ConsumeBool());
}

void CheckConfig(const ModelConfig& model) {
  const Config& c = model.config;
  Check(c.n_embd >= 1 && c.n_embd <= 1 << 16, "n_embd");
  Check(c.n_head >= 1 && c.n_embd % c.n_head == 0, "n_head");
  Check(c.n_kv_head() == c.n_head || (c.is_bigcode && c.n_kv_head() == 1), "n_kv_head");
  Check(c.head_dim() >= 1 && c.head_dim() <= kMaxHeadDim, "head_dim");
  Check(c.n_layer >= 1 && c.n_layer <= 1 << 10, "n_layer");
  Check(c.n_inner >= 1 && c.n_inner <= 1 << 18, "n_inner");
  Check(c.n_positions >= 1 && c.n_positions <= 1 << 20, "n_positions");
  Check(c.vocab_size >= 1 && c.vocab_size <= 1 << 24, "vocab_size");
  Check(c.layer_norm_epsilon > 0.0f && c.layer_norm_epsilon < 1.0f, "layer_norm_epsilon");
  if (c.eos_token_id) {
    Check(*c.eos_token_id >= 0 && static_cast<std::size_t>(*c.eos_token_id) < c.vocab_size, "eos");
  }
}

}  // namespace
}  // namespace gpt2::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpt2;
  using namespace gpt2::fuzz;
  bool is_sound = false;
  std::string text;
  if (size > 0 && data[0] == '{') {  // a readable input, as in the corpus
    text = AsText(data, size);
  } else {
    FuzzedDataProvider input(data, size);
    Json json = SoundConfig(input);
    is_sound = input.ConsumeBool();
    if (!is_sound) Spoil(input, json);
    text = TextOf(json);
    if (!is_sound) text = MaybeDamaged(input, std::move(text));
  }
  const Result<ModelConfig> config = ReadConfigJson(text);
  if (config.ok()) {
    CheckConfig(config.value());
  } else {
    Check(!is_sound, config.error().message);
    Check(config.error().message.find("config.json") != std::string::npos,
          "does not name the file");
  }
  return 0;
}
