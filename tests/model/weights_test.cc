#include "engine/model/weights.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

namespace gpt2 {
namespace {

Config SmallConfig(bool is_tied) {
  Config config;
  config.n_embd = 40;
  config.n_head = 2;
  config.n_layer = 2;
  config.n_inner = 100;
  config.n_positions = 16;
  config.vocab_size = 50;
  config.tie_word_embeddings = is_tied;
  return config;
}

TEST(TensorSpecs, HaveTheNamesOfTheHubInTheOrderOfTheForwardPass) {
  std::string names;
  std::map<std::string, int> parts;
  for (const TensorSpec& spec : TensorSpecs(SmallConfig(/*is_tied=*/false))) {
    names += spec.name + " ";
    ++parts[spec.part];
  }
  std::string expected = "wte.weight wpe.weight ";
  for (const std::string h : {"h.0", "h.1"}) {
    for (const char* part :
         {".ln_1", ".attn.c_attn", ".attn.c_proj", ".ln_2", ".mlp.c_fc", ".mlp.c_proj"}) {
      expected += h + part + ".weight " + h + part + ".bias ";
    }
  }
  expected += "ln_f.weight ln_f.bias lm_head.weight lm_head.bias ";
  EXPECT_EQ(names, expected);
  EXPECT_EQ(
      parts,
      (std::map<std::string, int>{
          {"embeddings", 2}, {"layer norms", 10}, {"attention", 8}, {"mlp", 8}, {"head", 2}}));
}

TEST(TensorSpecs, OnlyBlocksHaveBlockMatricesAndThoseOfGptBigCodeAreNotTransposed) {
  Config config = SmallConfig(/*is_tied=*/true);
  for (const bool is_bigcode : {false, true}) {
    config.is_bigcode = is_bigcode;
    for (const TensorSpec& spec : TensorSpecs(config)) {
      const bool is_block_matrix = spec.name.starts_with("h.") && !spec.is_vector();
      EXPECT_EQ(spec.is_block_matrix(), is_block_matrix) << spec.name;
      EXPECT_EQ(spec.is_conv1d(), is_block_matrix && !is_bigcode) << spec.name;
    }
  }
}

TEST(Allocate, NarrowMatricesStayFloatAndVectorsFillWholeTiles) {
  Weights weights(SmallConfig(/*is_tied=*/true));
  const std::vector<TensorSpec> specs = TensorSpecs(weights.config);
  TensorSpec spec = specs[0];  // wte.weight
  for (const auto& [cols, format] : {std::pair{std::size_t{31}, WeightFormat::kF32},
                                     std::pair{std::size_t{32}, WeightFormat::kQ8}}) {
    spec.cols = cols;
    ASSERT_TRUE(Allocate(spec, WeightFormat::kQ8, weights).ok());
    EXPECT_EQ(weights.wte.format(), format) << cols;
    EXPECT_EQ(weights.wte.rows(), 50u);
    EXPECT_EQ(weights.wte.cols(), cols);
  }
  for (const TensorSpec& other : specs) {
    if (other.name != "h.0.mlp.c_fc.bias") continue;
    ASSERT_TRUE(Allocate(other, WeightFormat::kQ8, weights).ok());
  }
  EXPECT_EQ(weights.blocks[0].mlp_up.bias.size(), 104u);
}

}  // namespace
}  // namespace gpt2
