#include "engine/format/config_json.h"

#include <gtest/gtest.h>

#include "engine/format/json.h"

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

TEST(ConfigJson, ReadsGpt2AndItsDefaults) {
  const auto result = ReadConfigJson(Gpt2Config().dump());
  ASSERT_TRUE(result.ok()) << result.error().message;
  const Config& config = result.value().config;
  EXPECT_EQ(config.n_inner, 3072u);
  EXPECT_EQ(config.head_dim(), 64u);
  EXPECT_TRUE(config.tie_word_embeddings);
  EXPECT_EQ(config.activation, Activation::kGeluTanh);
  EXPECT_EQ(result.value().weights, "");
}

TEST(ConfigJson, EachImpossibleValueIsNamed) {
  for (const char* key : {"n_embd", "n_head", "n_layer", "n_positions", "vocab_size"}) {
    for (const Json& value : {Json(0), Json(-3), Json(1.5), Json("12"), Json(), Json(1e300)}) {
      const std::string error = ErrorWith(key, value);
      EXPECT_NE(error.find(key), std::string::npos) << key << " = " << value;
      EXPECT_NE(error.find("expected"), std::string::npos) << error;
    }
  }
  EXPECT_NE(ErrorWith("n_head", 7).find("multiple"), std::string::npos);
  EXPECT_NE(ErrorWith("activation_function", "relu").find("relu"), std::string::npos);
  EXPECT_NE(ErrorWith("model_type", "llama").find("llama"), std::string::npos);
  EXPECT_NE(ErrorWith("layer_norm_epsilon", -1).find("layer_norm_epsilon"), std::string::npos);
  EXPECT_NE(ErrorWith("scale_attn_by_inverse_layer_idx", true).find("scale_attn"),
            std::string::npos);
  EXPECT_NE(ErrorWith("quantization_config", "q8").find("quantization_config"), std::string::npos);
}

TEST(ConfigJson, WhatIsNoJsonObjectIsRefused) {
  for (const char* text : {"", "{", "[]", "3", "\"x\"", "nul", "{\"n_embd\": 1, \"n_embd\": 2}"}) {
    EXPECT_FALSE(ReadConfigJson(text).ok()) << text;
  }
  EXPECT_FALSE(ReadConfigJson(std::string(200'000, '[')).ok());  // deep nesting
}

}  // namespace
}  // namespace gpt2
