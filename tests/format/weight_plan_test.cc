#include "engine/format/weight_plan.h"

#include <gtest/gtest.h>

#include "tests/support/has.h"

namespace gpt2 {
namespace {

Config SmallConfig() {
  Config config;
  config.n_layer = 3;
  config.n_embd = 8;
  config.n_head = 2;
  config.n_inner = 32;
  config.n_positions = 16;
  config.vocab_size = 20;
  return config;
}

TEST(MostTensors, CountsParametersScalesMasksAndTheTiedHead) {
  for (const bool is_tied : {true, false}) {
    Config config = SmallConfig();
    config.tie_word_embeddings = is_tied;
    // A layer has two layer norms and four linear layers with a weight and a bias each, scales of
    // the linear weights, "attn.bias" and "attn.masked_bias".
    constexpr std::size_t kOfLayer = 2 * (2 + 4) + 4 + 2;
    constexpr std::size_t kOfCrossAttention = 10, kOfOtherHeads = 16;
    // The other tensors are wte and lm_head with their scales, wpe, ln_f and "lm_head.bias".
    const std::size_t most = 3 * (kOfLayer + kOfCrossAttention) + 2 + 2 + 1 + 2 + 1 + kOfOtherHeads;
    EXPECT_EQ(MostTensors(TensorSpecs(config), config), most);
  }
}

TEST(MostHeaderBytes, GrowsWithTheTensorsUpToALimit) {
  EXPECT_EQ(MostHeaderBytes(0), 1024u * 1024);
  EXPECT_EQ(MostHeaderBytes(100), 1024u * 1024 + 100 * 1024);
  EXPECT_EQ(MostHeaderBytes(1u << 30), kMostHeaderBytes);
}

// Doubles from a hub are unsupported; a shape that differs from config.json is damage.
TEST(PlanTensors, UnsupportedTypesAndWrongShapesHaveDifferentErrorCodes) {
  const ModelConfig config{SmallConfig(), StoredWeights::kHub};
  const std::vector<TensorSpec> specs = TensorSpecs(config.config);
  const auto error_of = [&](std::vector<std::uint64_t> shape) {
    SafetensorsHeader header;
    header.tensors.push_back(
        {.name = "wte.weight", .dtype = DType::kOther, .shape = std::move(shape), .end = 1280});
    return PlanTensors(header, config, specs, WeightFormat::kF32).error();
  };
  EXPECT_EQ(error_of({20, 8}).code, ErrorCode::kUnsupported);
  EXPECT_EQ(error_of({8, 20}).code, ErrorCode::kCorrupt);
}

Error ErrorOfTensor(const std::string& name) {
  const ModelConfig config{SmallConfig(), StoredWeights::kHub};
  const std::vector<TensorSpec> specs = TensorSpecs(config.config);
  SafetensorsHeader header;
  header.tensors.push_back({.name = name, .dtype = DType::kF32, .shape = {2}, .end = 8});
  return PlanTensors(header, config, specs, WeightFormat::kF32).error();
}

TEST(PlanTensors, CrossAttentionIsRefused) {
  for (const char* name : {"transformer.h.0.crossattention.c_attn.weight",
                           "h.2.crossattention.q_attn.bias", "h.1.ln_cross_attn.weight"}) {
    const Error error = ErrorOfTensor(name);
    EXPECT_EQ(error.code, ErrorCode::kUnsupported) << error.message;
    EXPECT_TRUE(Has(error.message, "cross-attention"));
  }
}

TEST(PlanTensors, UnusedHeadsAreSkippedAndNamed) {
  for (const char* name : {"score.weight", "classifier.bias", "multiple_choice_head.summary.weight",
                           "v_head.summary.bias", "qa_outputs.weight", "transformer.h.0.attn.bias",
                           "h.1.attn.masked_bias"}) {
    // The error names the missing part.
    EXPECT_TRUE(Has(ErrorOfTensor(name).message, "\"wte.weight\" is missing")) << name;
  }
  EXPECT_TRUE(Has(ErrorOfTensor("scores.weight").message, "does not belong"));
  SafetensorsHeader header;
  for (const char* name : {"score.weight", "wte.weight", "v_head.summary.weight",
                           "v_head.summary.bias", "h.0.attn.bias"}) {
    header.tensors.push_back({.name = name});
  }
  EXPECT_EQ(OtherHeads(header), (std::vector<std::string>{"score", "v_head"}));
}

TEST(SettleHead, ASeparateHeadIsReadAndReplacesAMissingEmbedding) {
  Config config = SmallConfig();
  std::vector<TensorSpec> specs = TensorSpecs(config);
  SafetensorsHeader header;
  header.tensors.push_back({.name = "lm_head.weight"});
  SettleHead(header, config, specs);
  EXPECT_EQ(header.tensors[0].name, "wte.weight");
  EXPECT_TRUE(config.tie_word_embeddings);

  header.tensors.push_back({.name = "lm_head.weight"});
  SettleHead(header, config, specs);
  EXPECT_EQ(header.tensors[1].name, "lm_head.weight");
  EXPECT_FALSE(config.tie_word_embeddings);
  EXPECT_EQ(specs.size(), TensorSpecs(config).size());
}

}  // namespace
}  // namespace gpt2
