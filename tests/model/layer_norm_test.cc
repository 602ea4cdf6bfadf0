// Tests that the layer norms of the forward pass use the config's epsilon.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/support/test_model.h"

namespace gpt2::testing {
namespace {

using Rows = std::vector<std::vector<float>>;

// The layer norm of `x`, in double.
Rows Normed(const Rows& x, const LayerNormWeights& weights, double epsilon) {
  Rows result = x;
  for (std::vector<float>& row : result) {
    const auto n = static_cast<double>(row.size());
    double mean = 0, variance = 0;
    for (const float value : row) mean += value / n;
    for (const float value : row) variance += (value - mean) * (value - mean) / n;
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = static_cast<float>((row[i] - mean) / std::sqrt(variance + epsilon) *
                                      weights.gain.data()[i] +
                                  weights.bias.data()[i]);
    }
  }
  return result;
}

void ExpectNear(const Rows& found, const Rows& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t r = 0; r < found.size(); ++r) {
    for (std::size_t i = 0; i < found[r].size(); ++i) {
      ASSERT_NEAR(found[r][i], expected[r][i], 1e-4) << "row " << r;
    }
  }
}

TEST(LayerNorms, AllUseTheEpsilonOfTheConfig) {
  TestModel model(TinyModelFolder("tied"), WeightFormat::kF32, KvFormat::kF32);
  constexpr float kEpsilon = 0.5f;  // as large as the variances, so that it changes the result
  model.weights->config.layer_norm_epsilon = kEpsilon;
  std::map<std::string, Rows> stages;
  const auto keep = [&](const std::string& stage, MatView<const float> x) {
    for (std::size_t r = 0; r < x.rows; ++r) {
      stages[stage].emplace_back(x.Row(r).begin(), x.Row(r).end());
    }
  };
  const Trace trace = keep;
  model.context->sequence().SetWindow(std::vector<std::int32_t>{5, 6, 7});
  model.context->Prefill(model.context->sequence(), 3, &trace);
  const Weights& w = *model.weights;
  const auto& blocks = w.blocks;
  ExpectNear(stages["h.0.attn.c_attn.input"], Normed(stages["embed"], blocks[0].ln_1, kEpsilon));
  ExpectNear(stages["h.0.mlp.c_fc.input"], Normed(stages["h.0.attn"], blocks[0].ln_2, kEpsilon));
  ExpectNear(stages["h.1.attn.c_attn.input"], Normed(stages["h.0.mlp"], blocks[1].ln_1, kEpsilon));
  ExpectNear(stages["ln_f"], Normed(stages["h.1.mlp"], w.ln_f, kEpsilon));
}

}  // namespace
}  // namespace gpt2::testing
