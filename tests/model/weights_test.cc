#include "engine/model/weights.h"

#include <gtest/gtest.h>

#include <tuple>

namespace gpt2 {
namespace {

Weights SmallModel(bool is_tied) {
  Weights weights;
  Config& config = weights.config;
  config.n_embd = 40;
  config.n_head = 2;
  config.n_layer = 2;
  config.n_inner = 100;
  config.n_positions = 16;
  config.vocab_size = 50;
  config.tie_word_embeddings = is_tied;
  return weights;
}

const TensorSlot& Find(const std::vector<TensorSlot>& slots, const std::string& name) {
  for (const TensorSlot& slot : slots) {
    if (slot.name == name) return slot;
  }
  ADD_FAILURE() << "no tensor " << name;
  return slots.front();
}

TEST(TensorSlots, AreThoseOfTheHubInTheOrderOfTheForwardPass) {
  Weights weights = SmallModel(/*is_tied=*/false);
  const auto slots = TensorSlots(weights);
  std::string names;
  for (const TensorSlot& slot : slots) names += slot.name + " ";
  std::string expected = "wte.weight wpe.weight ";
  for (const std::string h : {"h.0", "h.1"}) {
    for (const char* part :
         {".ln_1", ".attn.c_attn", ".attn.c_proj", ".ln_2", ".mlp.c_fc", ".mlp.c_proj"}) {
      expected += h + part + ".weight " + h + part + ".bias ";
    }
  }
  expected += "ln_f.weight ln_f.bias lm_head.weight lm_head.bias ";
  EXPECT_EQ(names, expected);
  EXPECT_EQ(weights.blocks.size(), 2u);
}

TEST(TensorSlots, HaveTheirShapesAndWhatMayBeAbsent) {
  Weights weights = SmallModel(/*is_tied=*/false);
  const auto slots = TensorSlots(weights);
  using Facts = std::tuple<std::size_t, std::size_t, bool, bool, bool, std::string>;
  const auto facts = [&](const std::string& name) {
    const TensorSlot& slot = Find(slots, name);
    EXPECT_NE(slot.matrix == nullptr, slot.floats == nullptr) << name;
    return Facts{slot.rows, slot.cols, slot.is_vector, slot.is_conv1d, slot.is_required, slot.part};
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

TEST(TensorSlots, ATiedHeadIsTheEmbedding) {
  Weights weights = SmallModel(/*is_tied=*/true);
  for (const TensorSlot& slot : TensorSlots(weights)) EXPECT_NE(slot.name, "lm_head.weight");
  EXPECT_EQ(&weights.head(), &weights.wte);
  weights.config.tie_word_embeddings = false;
  EXPECT_EQ(&weights.head(), &weights.lm_head);
}

TEST(AllocateSlot, NarrowMatricesStayFloatAndVectorsFillWholeTiles) {
  Weights weights = SmallModel(/*is_tied=*/true);
  TensorSlot slot = Find(TensorSlots(weights), "wte.weight");
  for (const auto& [cols, format] : {std::pair{std::size_t{31}, WeightFormat::kF32},
                                     std::pair{std::size_t{32}, WeightFormat::kQ8}}) {
    slot.cols = cols;
    ASSERT_TRUE(AllocateSlot(slot, WeightFormat::kQ8).ok());
    EXPECT_EQ(weights.wte.format(), format) << cols;
    EXPECT_EQ(weights.wte.rows(), 50u);
    EXPECT_EQ(weights.wte.cols(), cols);
  }
  ASSERT_TRUE(
      AllocateSlot(Find(TensorSlots(weights), "h.0.mlp.c_fc.bias"), WeightFormat::kQ8).ok());
  EXPECT_EQ(weights.blocks[0].mlp_up.bias.size(), 104u);
}

}  // namespace
}  // namespace gpt2
