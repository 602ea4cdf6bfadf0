#include "engine/format/config_json.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "engine/format/json.h"
#include "tests/support/has.h"

namespace gpt2 {
namespace {

Json Gpt2Config() {
  return {{"model_type", "gpt2"}, {"n_embd", 768},       {"n_head", 12},
          {"n_layer", 12},        {"n_positions", 1024}, {"vocab_size", 50257}};
}

// The error of a config that differs from GPT-2's in one key.
std::string ErrorWith(const char* key, const Json& value) {
  Json config = Gpt2Config();
  config[key] = value;
  const auto result = ReadConfigJson(config.dump());
  return result.ok() ? "" : result.error().message;
}

TEST(ConfigJson, AGpt2ConfigGetsTheDefaultsOfTransformers) {
  const auto result = ReadConfigJson(Gpt2Config().dump());
  ASSERT_TRUE(result.ok()) << result.error().message;
  const Config& config = result.value().config;
  for (const char* type : {"gpt2", "gpt_bigcode"}) {
    const auto bare = ReadConfigJson(Json{{"model_type", type}, {"n_head", 6}}.dump());
    ASSERT_TRUE(bare.ok()) << bare.error().message;
    const Config& sizes = bare.value().config;
    EXPECT_EQ(sizes.n_embd + sizes.n_positions, config.n_embd + config.n_positions);
    EXPECT_EQ(sizes.n_layer + sizes.vocab_size, config.n_layer + config.vocab_size);
    EXPECT_EQ(sizes.n_head, 6u);
  }
  EXPECT_EQ(config.n_inner, 3072u);
  EXPECT_EQ(config.head_dim(), 64u);
  EXPECT_TRUE(config.tie_word_embeddings);
  EXPECT_EQ(config.activation, Activation::kGeluTanh);
  EXPECT_EQ(result.value().weights, std::nullopt);
}

TEST(ConfigJson, InvalidValuesAreRefusedByName) {
  for (const char* key : {"n_embd", "n_head", "n_layer", "n_positions", "vocab_size"}) {
    for (const Json& value : {Json(0), Json(-3), Json(1.5), Json("12"), Json(), Json(1e300)}) {
      const std::string error = ErrorWith(key, value);
      EXPECT_TRUE(Has(error, key)) << key << " = " << value;
      EXPECT_TRUE(Has(error, "expected"));
    }
  }
  EXPECT_TRUE(
      Has(ReadConfigJson("{}").error().message, "\"n_embd\" and \"model_type\" are missing"));
  EXPECT_TRUE(Has(ErrorWith("n_head", 7), "multiple"));
  EXPECT_TRUE(Has(ErrorWith("activation_function", "mish"), "\"mish\", expected one of"));
  EXPECT_TRUE(Has(ErrorWith("model_type", "llama"), "llama"));
  EXPECT_TRUE(Has(ErrorWith("layer_norm_epsilon", -1), "layer_norm_epsilon"));
  EXPECT_TRUE(Has(ErrorWith("scale_attn_by_inverse_layer_idx", 1), "expected true or false"));
  EXPECT_TRUE(Has(ErrorWith("quantization_config", "q8"), "quantization_config"));
}

TEST(ConfigJson, ActivationNamesMatchTransformers) {
  const std::pair<const char*, Activation> names[] = {{"gelu_new", Activation::kGeluTanh},
                                                      {"gelu_fast", Activation::kGeluTanh},
                                                      {"gelu", Activation::kGeluErf},
                                                      {"gelu_python", Activation::kGeluErf},
                                                      {"relu", Activation::kRelu},
                                                      {"silu", Activation::kSilu},
                                                      {"swish", Activation::kSilu},
                                                      {"quick_gelu", Activation::kQuickGelu},
                                                      {"gelu_accurate", Activation::kGeluTanh}};
  for (const auto& [name, activation] : names) {
    Json config = Gpt2Config();
    config["activation_function"] = name;
    EXPECT_EQ(ReadConfigJson(config.dump()).value().config.activation, activation) << name;
  }
  EXPECT_EQ(ActivationName(Activation::kSilu), "silu");
}

// The config of bigcode/tiny_starcoder_py.
Json BigCodeConfig() {
  return Json::parse(R"({
      "model_type": "gpt_bigcode", "activation_function": "gelu_pytorch_tanh",
      "attention_softmax_in_fp32": true, "scale_attention_softmax_in_fp32": true,
      "inference_runner": 0, "validate_runner_input": true, "pre_allocate_kv_cache": true,
      "max_sequence_length": null, "max_batch_size": null, "pad_key_length": true,
      "multi_query": true, "n_embd": 768, "n_head": 12, "n_inner": 3072, "n_layer": 20,
      "n_positions": 8192, "eos_token_id": 0, "vocab_size": 49152})");
}

TEST(ConfigJson, AGptBigCodeConfigIsRead) {
  const auto read = [](const Json& json) { return ReadConfigJson(json.dump()).value(); };
  Json json = BigCodeConfig();
  const ModelConfig model = read(json);
  EXPECT_TRUE(model.config.is_bigcode);
  EXPECT_EQ(model.config.n_kv_head(), 1u);
  EXPECT_EQ(model.config.qkv_width(), 896u);
  EXPECT_EQ(model.config.n_positions, 8192u);
  EXPECT_EQ(model.config.activation, Activation::kGeluTanh);
  EXPECT_EQ(model.warnings, std::vector<std::string>());
  json["num_key_value_heads"] = 1;  // as newer releases of transformers write it
  EXPECT_EQ(read(json).config.n_kv_head(), 1u);
  json.erase("multi_query");  // the default
  EXPECT_EQ(read(json).config.n_kv_head(), 1u);
  json["num_key_value_heads"] = 12;
  for (const Json& no : {Json(false), Json()}) {
    json["multi_query"] = no;
    EXPECT_EQ(read(json).config.n_kv_head(), 12u);
    EXPECT_EQ(read(json).config.qkv_width(), 2304u);
  }
}

TEST(ConfigJson, InvalidNumbersOfKeyHeadsAreRefused) {
  for (const bool multi_query : {true, false}) {
    const int expected = multi_query ? 1 : 12;
    for (const Json& heads : {Json(0), Json(3), Json(-1), Json(std::int64_t{1} << 31),
                              Json(std::int64_t{1} << 32 | expected), Json(1.5), Json("1"),
                              Json(multi_query ? 12 : 1), Json(true), Json::array({expected})}) {
      Json json = BigCodeConfig();
      json["multi_query"] = multi_query;
      json["num_key_value_heads"] = heads;
      const auto result = ReadConfigJson(json.dump());
      ASSERT_FALSE(result.ok()) << heads;
      EXPECT_TRUE(Has(result.error().message, "\"num_key_value_heads\" is "));
      EXPECT_TRUE(Has(result.error().message, "expected " + std::to_string(expected)));
    }
  }
}

TEST(ConfigJson, KeysOfTheOtherModelTypeAreRefusedByName) {
  const auto error_of = [](Json json, const char* key, const Json& value) {
    json[key] = value;
    const auto result = ReadConfigJson(json.dump());
    return result.ok() ? "" : result.error().message;
  };
  EXPECT_TRUE(Has(error_of(BigCodeConfig(), "scale_attn_by_inverse_layer_idx", true),
                  "\"scale_attn_by_inverse_layer_idx\" is true, a key that GPT-BigCode does not"));
  EXPECT_TRUE(Has(error_of(BigCodeConfig(), "multi_query", 1), "expected true or false"));
  EXPECT_TRUE(Has(error_of(BigCodeConfig(), "add_cross_attention", true), "add_cross_attention"));
  for (const char* key : {"multi_query", "attention_softmax_in_fp32", "num_key_value_heads"}) {
    EXPECT_TRUE(Has(error_of(Gpt2Config(), key, true), "a key that GPT-2 does not have")) << key;
  }
}

TEST(ConfigJson, SizesUpToTheirLimitAreAccepted) {
  struct Case {
    const char* key;
    std::int64_t most;
  };
  for (const auto& [key, most] :
       {Case{"n_layer", 1024}, Case{"n_positions", 1 << 20}, Case{"n_inner", 1 << 18}}) {
    // The whole model may exceed a 32-bit address space, which is another error.
    EXPECT_FALSE(Has(ErrorWith(key, most), "whole number")) << key;
    EXPECT_EQ(ErrorWith(key, most + 1),
              std::string("config.json: \"") + key + "\" is " + std::to_string(most + 1) +
                  ", expected a whole number from 1 to " + std::to_string(most));
  }
  EXPECT_FALSE(Has(ErrorWith("n_embd", 12 * 512), "wide"));
  EXPECT_EQ(ErrorWith("n_embd", 12 * 513),
            "config.json: each head has 513 dimensions, expected at most 512");
}

TEST(ConfigJson, AConfigThatIsNotAnObjectIsRefused) {
  for (const char* text : {"", "{", "[]", "3", "\"x\"", "nul", "{\"n_embd\": 1, \"n_embd\": 2}"}) {
    EXPECT_FALSE(ReadConfigJson(text).ok()) << text;
  }
}

TEST(ConfigJson, EpsilonIsCheckedAfterRoundingToFloat) {
  for (const Json& value : {Json(0), Json(1e-60), Json(1e-45), Json(1), Json(0.99999999999),
                            Json("1e-5"), Json(), Json(true)}) {
    EXPECT_TRUE(Has(ErrorWith("layer_norm_epsilon", value), "layer_norm_epsilon")) << value;
  }
  EXPECT_EQ(ErrorWith("layer_norm_epsilon", 1e-12), "");
}

TEST(ConfigJson, OnlyKnownWeightFormatsAreAccepted) {
  const auto error_with = [](const Json& weights) {
    return ErrorWith("quantization_config", {{"quant_method", "gpt2-wasm"}, {"weights", weights}});
  };
  for (const char* known : {"f32", "f16", "q8", "q4"}) EXPECT_EQ(error_with(known), "");
  for (const Json& unknown :
       {Json("q5"), Json("Q8"), Json("hub"), Json(""), Json(8), Json(), Json::array()}) {
    EXPECT_TRUE(Has(error_with(unknown), "\"f32\", \"f16\", \"q8\" or \"q4\""));
  }
  EXPECT_TRUE(Has(error_with("q5"), "\"weights\" in \"quantization_config\" is \"q5\""));
  EXPECT_NE(ErrorWith("quantization_config", {{"weights", "q8"}}), "");
  EXPECT_NE(ErrorWith("quantization_config", {{"quant_method", "gptq"}, {"weights", "q8"}}), "");
  EXPECT_TRUE(Has(ErrorWith("quantization_config",
                            {{"quant_method", "gpt2-wasm"}, {"weights", "q8"}, {"group_size", 64}}),
                  "group_size"));
}

TEST(ConfigJson, AnEosTokenIdOutsideTheVocabularyIsIgnored) {
  const auto read = [](const Json& value) {
    Json config = Gpt2Config();
    config["eos_token_id"] = value;
    return ReadConfigJson(config.dump()).value().config.eos_token_id;
  };
  EXPECT_EQ(read(50256), 50256);
  for (const Json& none : {Json(50257), Json(-1), Json(), Json(std::int64_t{1} << 62)}) {
    EXPECT_EQ(read(none), std::nullopt) << none;
  }
  for (const Json& wrong : {Json("x"), Json(1.5), Json::array({"x"}), Json(true)}) {
    EXPECT_TRUE(Has(ErrorWith("eos_token_id", wrong), "eos_token_id")) << wrong;
  }
}

TEST(ConfigJson, EveryValidEosTokenIdOfAListIsKept) {
  Json config = Gpt2Config();
  config["eos_token_id"] = Json::array({50257, 5, 50256});
  const Config c = ReadConfigJson(config.dump()).value().config;
  EXPECT_EQ(c.eos_token_id, 5);
  EXPECT_EQ(c.other_eos_token_ids, std::vector<std::int32_t>{50256});
}

std::vector<std::string> WarningsWith(const Json& more) {
  Json config = Gpt2Config();
  config.update(more);
  const auto result = ReadConfigJson(config.dump());
  EXPECT_TRUE(result.ok()) << result.error().message;
  return result.ok() ? result.value().warnings : std::vector<std::string>();
}

// Transformers 4.0 to 5 write all of these for a GPT-2. Their values here change no logit.
TEST(ConfigJson, KeysWithoutEffectGiveNoWarning) {
  EXPECT_EQ(WarningsWith(Json::parse(R"({
          "_name_or_path": "x", "architectures": ["GPT2DoubleHeadsModel"], "attn_pdrop": 0.1,
          "bos_token_id": 50256, "dtype": "bfloat16", "gradient_checkpointing": true,
          "hidden_dropout": 0.3, "id2label": {"0": "LABEL_0"}, "initializer_range": 0.02,
          "n_ctx": 512, "reorder_and_upcast_attn": true, "summary_type": "cls_index",
          "task_specific_params": {"text-generation": {"max_length": 50}},
          "torch_dtype": "float32", "transformers_version": "5.0.0", "use_cache": false,
          "add_cross_attention": false, "pruned_heads": {}, "auto_map": null, "rotary_dim": null,
          "top_k": 50, "max_length": 20, "num_beams": 1})")),
            std::vector<std::string>());
}

TEST(ConfigJson, UnsupportedKeysThatChangeTheResultAreRefusedByName) {
  const Json cases = {{"add_cross_attention", true},
                      {"is_encoder_decoder", true},
                      {"pruned_heads", {{"0", {1}}}},
                      {"auto_map", {{"AutoModelForCausalLM", "modeling.Model"}}},
                      {"rotary_dim", 64},
                      {"n_kv_head", 1},
                      {"multi_query_attention", true},
                      {"alibi", true},
                      {"position_embedding_type", "relative"},
                      {"norm_type", "rmsnorm"},
                      {"layer_norm_eps", 1e-6},
                      {"embedding_multiplier", 12},
                      {"final_logit_softcapping", 30}};
  for (const auto& [key, value] : cases.items()) {
    EXPECT_TRUE(Has(ErrorWith(key.c_str(), value), "\"" + key + "\" is ")) << key;
  }
}

TEST(ConfigJson, UnknownKeysAreNamedInOneWarning) {
  EXPECT_EQ(WarningsWith({{"dataset", "tales"}, {"no_repeat_ngram_size", 3}}),
            std::vector<std::string>{"config.json: ignored, because GPT-2 does not have it: "
                                     "\"dataset\": \"tales\", \"no_repeat_ngram_size\": 3"});
  Json many;
  for (int i = 0; i < 20; ++i) many["note " + std::to_string(i)] = i + 1;
  const auto warnings = WarningsWith(many);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(Has(warnings[0], "\"note 7\": 8 and 12 more")) << warnings[0];
}

TEST(ConfigJson, SizesMayHaveTheGenericNamesOfTransformers) {
  Json config = {{"hidden_size", 64},
                 {"num_attention_heads", 4},
                 {"num_hidden_layers", 3},
                 {"vocab_size", 50},
                 {"max_position_embeddings", 16}};
  const Config c = ReadConfigJson(config.dump()).value().config;
  EXPECT_EQ(c.n_embd, 64u);
  EXPECT_EQ(c.n_head, 4u);
  EXPECT_EQ(c.n_layer, 3u);
  EXPECT_EQ(c.n_positions, 16u);
  EXPECT_EQ(ErrorWith("hidden_size", 768), "");
  EXPECT_EQ(ErrorWith("hidden_size", 64),
            "config.json: \"n_embd\" is 768, but \"hidden_size\" is 64: both name one size, "
            "expected equal values");
}

// Each may be large, but a size that does not fit the address space must not wrap around.
TEST(ConfigJson, ShapesLargerThanTheAddressSpaceAreRefused) {
  const Json widest = {{"n_embd", 65536},        {"n_head", 65536},       {"n_layer", 1024},
                       {"n_positions", 1 << 20}, {"vocab_size", 1 << 24}, {"n_inner", 262144}};
  const auto result = ReadConfigJson(widest.dump());
  EXPECT_EQ(result.ok(), sizeof(std::size_t) == 8);
  // Attention pads a head of width 1 to 4, and one position to a block of 32.
  Json padded = widest;
  padded["n_positions"] = 1;
  padded["n_embd"] = padded["n_head"] = 8192;
  padded["n_inner"] = padded["vocab_size"] = 1;
  EXPECT_EQ(ReadConfigJson(padded.dump()).ok(), sizeof(std::size_t) == 8);
}

}  // namespace
}  // namespace gpt2
