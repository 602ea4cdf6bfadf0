#include "engine/model/weights.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>
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

TensorSpec Find(const std::vector<TensorSpec>& specs, const std::string& name) {
  for (const TensorSpec& spec : specs) {
    if (spec.name == name) return spec;
  }
  ADD_FAILURE() << "no tensor " << name;
  return specs.front();
}

TEST(TensorSpecs, HaveTheNamesOfTheHubInTheOrderOfTheForwardPass) {
  std::string names;
  for (const TensorSpec& spec : TensorSpecs(SmallConfig(/*is_tied=*/false))) {
    names += spec.name + " ";
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
}

TEST(TensorSpecs, StateShapesAndOptionalTensors) {
  const auto specs = TensorSpecs(SmallConfig(/*is_tied=*/false));
  using Facts = std::tuple<std::size_t, std::size_t, bool, bool, bool, std::string>;
  const auto facts = [&](const std::string& name) {
    const TensorSpec spec = Find(specs, name);
    return Facts{spec.rows,        spec.cols,          spec.is_vector(),
                 spec.is_conv1d(), spec.is_required(), spec.part};
  };
  EXPECT_EQ(facts("wte.weight"), Facts(50, 40, false, false, true, "embeddings"));
  EXPECT_EQ(facts("wpe.weight"), Facts(16, 40, false, false, true, "embeddings"));
  EXPECT_EQ(facts("h.1.ln_1.weight"), Facts(1, 40, true, false, true, "layer norms"));
  EXPECT_EQ(facts("h.1.ln_2.bias"), Facts(1, 40, true, false, false, "layer norms"));
  EXPECT_EQ(facts("h.0.attn.c_attn.weight"), Facts(120, 40, false, true, true, "attention"));
  EXPECT_EQ(facts("h.0.attn.c_attn.bias"), Facts(1, 120, true, false, false, "attention"));
  EXPECT_EQ(facts("h.0.attn.c_proj.weight"), Facts(40, 40, false, true, true, "attention"));
  EXPECT_EQ(facts("h.0.mlp.c_fc.weight"), Facts(100, 40, false, true, true, "mlp"));
  EXPECT_EQ(facts("h.0.mlp.c_fc.bias"), Facts(1, 100, true, false, false, "mlp"));
  EXPECT_EQ(facts("h.0.mlp.c_proj.weight"), Facts(40, 100, false, true, true, "mlp"));
  EXPECT_EQ(facts("ln_f.weight"), Facts(1, 40, true, false, true, "layer norms"));
  EXPECT_EQ(facts("lm_head.weight"), Facts(50, 40, false, false, true, "head"));
  EXPECT_EQ(facts("lm_head.bias"), Facts(1, 50, true, false, false, "head"));
}

TEST(TensorSpecs, GptBigCodeMatricesAreNotTransposed) {
  Config config = SmallConfig(/*is_tied=*/true);
  config.is_bigcode = true;
  for (const bool multi_query : {true, false}) {
    config.multi_query = multi_query;
    const std::size_t qkv_width = multi_query ? 80 : 120;  // 40 queries, and keys and values
    for (const TensorSpec& spec : TensorSpecs(config)) {
      EXPECT_FALSE(spec.is_conv1d()) << spec.name;
      EXPECT_EQ(spec.is_block_matrix(), spec.name.starts_with("h.") && !spec.is_vector())
          << spec.name;
    }
    EXPECT_EQ(Find(TensorSpecs(config), "h.1.attn.c_attn.weight").rows, qkv_width);
    EXPECT_EQ(Find(TensorSpecs(config), "h.1.attn.c_attn.bias").cols, qkv_width);
  }
}

TEST(Config, ColumnsOfFollowsEachHeadLayout) {
  Config config = SmallConfig(/*is_tied=*/true);  // 2 heads of 20
  using Columns = std::vector<std::size_t>;
  const auto columns = [&](std::size_t head) {
    const auto [query, key, value] = config.ColumnsOf(head);
    return Columns{query, key, value};
  };
  EXPECT_EQ(columns(0), Columns({0, 40, 80}));
  EXPECT_EQ(columns(1), Columns({20, 60, 100}));
  config.is_bigcode = true;
  EXPECT_EQ(columns(0), Columns({0, 20, 40}));
  EXPECT_EQ(columns(1), Columns({60, 80, 100}));
  config.multi_query = true;
  EXPECT_EQ(columns(0), Columns({0, 40, 60}));
  EXPECT_EQ(columns(1), Columns({20, 40, 60}));
}

TEST(Bind, GivesEachTensorItsOwnStorage) {
  Weights weights(SmallConfig(/*is_tied=*/false));
  const auto specs = TensorSpecs(weights.config);
  std::set<const void*> places;
  for (const TensorSpec& spec : specs) {
    const TensorRef tensor = Bind(spec, weights);
    const ConstTensorRef read_only = Bind(spec, std::as_const(weights));
    EXPECT_EQ(tensor.matrix != nullptr, spec.is_matrix()) << spec.name;
    EXPECT_EQ(tensor.floats == nullptr, spec.is_matrix()) << spec.name;
    EXPECT_EQ(read_only.matrix, tensor.matrix) << spec.name;
    EXPECT_EQ(read_only.floats, tensor.floats) << spec.name;
    places.insert(tensor.matrix);
    places.insert(tensor.floats);
  }
  EXPECT_EQ(places.size(), specs.size() + 1);  // and null
  const auto matrix = [&](const char* name) { return Bind(Find(specs, name), weights).matrix; };
  const auto floats = [&](const char* name) { return Bind(Find(specs, name), weights).floats; };
  EXPECT_EQ(matrix("wte.weight"), &weights.wte);
  EXPECT_EQ(floats("wpe.weight"), &weights.wpe);
  EXPECT_EQ(floats("h.0.ln_1.weight"), &weights.blocks[0].ln_1.gain);
  EXPECT_EQ(floats("h.1.ln_2.bias"), &weights.blocks[1].ln_2.bias);
  EXPECT_EQ(matrix("h.1.attn.c_attn.weight"), &weights.blocks[1].attn_qkv.weight);
  EXPECT_EQ(floats("h.1.attn.c_proj.bias"), &weights.blocks[1].attn_out.bias);
  EXPECT_EQ(matrix("h.0.mlp.c_fc.weight"), &weights.blocks[0].mlp_up.weight);
  EXPECT_EQ(matrix("h.0.mlp.c_proj.weight"), &weights.blocks[0].mlp_down.weight);
  EXPECT_EQ(matrix("lm_head.weight"), &weights.lm_head);
  EXPECT_EQ(floats("lm_head.bias"), &weights.lm_head_bias);
}

TEST(TensorSpecs, ATiedHeadSharesTheEmbedding) {
  Weights weights(SmallConfig(/*is_tied=*/true));
  for (const TensorSpec& spec : TensorSpecs(weights.config)) {
    EXPECT_NE(spec.name, "lm_head.weight");
  }
  EXPECT_EQ(&weights.head(), &weights.wte);
  weights.config.tie_word_embeddings = false;
  EXPECT_EQ(&weights.head(), &weights.lm_head);
}

TEST(Allocate, NarrowMatricesStayFloatAndVectorsFillWholeTiles) {
  Weights weights(SmallConfig(/*is_tied=*/true));
  TensorSpec spec = Find(TensorSpecs(weights.config), "wte.weight");
  for (const auto& [cols, format] : {std::pair{std::size_t{31}, WeightFormat::kF32},
                                     std::pair{std::size_t{32}, WeightFormat::kQ8}}) {
    spec.cols = cols;
    ASSERT_TRUE(Allocate(spec, WeightFormat::kQ8, weights).ok());
    EXPECT_EQ(weights.wte.format(), format) << cols;
    EXPECT_EQ(weights.wte.rows(), 50u);
    EXPECT_EQ(weights.wte.cols(), cols);
  }
  const TensorSpec bias = Find(TensorSpecs(weights.config), "h.0.mlp.c_fc.bias");
  ASSERT_TRUE(Allocate(bias, WeightFormat::kQ8, weights).ok());
  EXPECT_EQ(weights.blocks[0].mlp_up.bias.size(), 104u);
}

}  // namespace
}  // namespace gpt2
