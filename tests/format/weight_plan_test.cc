#include "engine/format/weight_plan.h"

#include <gtest/gtest.h>

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

TEST(MostTensors, AreParametersAndScalesAndMasksAndTheTiedHead) {
  for (const bool is_tied : {true, false}) {
    Config config = SmallConfig();
    config.tie_word_embeddings = is_tied;
    // Of each layer: two layer norms and four linear layers, of a weight and a bias each, of which
    // the linear weights may have scales, and "attn.bias" and "attn.masked_bias".
    constexpr std::size_t kOfLayer = 2 * (2 + 4) + 4 + 2;
    // wte and its scales, wpe, ln_f; "lm_head.weight", be it a copy, and "lm_head.bias".
    std::size_t most = 3 * kOfLayer + 2 + 1 + 2 + 2;
    if (!is_tied) most += 1;  // lm_head's scales
    EXPECT_EQ(MostTensors(TensorSpecs(config), config), most);
  }
}

TEST(MostHeaderBytes, GrowWithTheTensorsUpToALimit) {
  EXPECT_EQ(MostHeaderBytes(0), 1024u * 1024);
  EXPECT_EQ(MostHeaderBytes(100), 1024u * 1024 + 100 * 1024);
  EXPECT_EQ(MostHeaderBytes(1u << 30), kMostHeaderBytes);
}

// A hub's doubles are well-formed; a shape that config.json does not ask for is damage.
TEST(PlanTensors, TellsTypesThatAreNotTakenFromDamage) {
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

TEST(CanonicalName, IsWithoutTheCheckpointsPrefix) {
  EXPECT_EQ(CanonicalName("transformer.h.0.ln_1.bias"), "h.0.ln_1.bias");
  EXPECT_EQ(CanonicalName("h.0.ln_1.bias"), "h.0.ln_1.bias");
  EXPECT_EQ(CanonicalName("transformer"), "transformer");
}

}  // namespace
}  // namespace gpt2
