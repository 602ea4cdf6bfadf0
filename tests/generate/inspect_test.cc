// The model's states of a token, layer by layer, compared with the float64 reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engine/api/api.h"
#include "engine/generate/context.h"
#include "tests/support/reference_model.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/test_engine.h"

namespace gpt2::testing {
namespace {

// The keys are rounded to 8 bits, and the activations before them.
constexpr double kQ8Tolerance = 0.05;

template <typename Values>
ReferenceRow Softmax(const Values& values) {
  ReferenceRow x(values.begin(), values.end());
  const double most = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (double& v : x) sum += v = std::exp(v - most);
  for (double& v : x) v /= sum;
  return x;
}

void ExpectNear(const ReferenceRow& found, const ReferenceRow& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance) << i;
}

struct Inside {
  std::vector<std::vector<float>> residuals;  // [n_layer + 1, n_embd]
  std::vector<std::vector<float>> attention;  // [n_layer * n_head, ids]
};
Inside InspectLast(Context& context, std::span<const std::int32_t> ids) {
  const Config& c = context.config();
  Sequence& sequence = context.sequence();
  sequence.SetWindow(ids);
  while (sequence.pending() > 1) context.Prefill(sequence, sequence.pending() - 1);
  std::vector<float> residuals((c.n_layer + 1) * c.n_embd),
      attention(c.n_layer * c.n_head * ids.size());
  context.Inspect(DenseView(residuals.data(), c.n_layer + 1, c.n_embd),
                  DenseView(attention.data(), c.n_layer * c.n_head, ids.size()));
  const auto rows_of = [](const std::vector<float>& values, std::size_t width) {
    std::vector<std::vector<float>> rows;
    for (auto at = values.begin(); at != values.end(); at += static_cast<std::ptrdiff_t>(width)) {
      rows.emplace_back(at, at + static_cast<std::ptrdiff_t>(width));
    }
    return rows;
  };
  return {rows_of(residuals, c.n_embd), rows_of(attention, ids.size())};
}

class InspectEach : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(TinyModels, InspectEach, ::testing::ValuesIn(TinyModelNames()),
                         TestNameOf);

TEST_P(InspectEach, ResidualsAttentionAndGuessesMatchTheReference) {
  const Golden golden(TinyModelFolder(GetParam()));
  const ModelFiles files(GetParam());
  const Config config = files.parsed();
  const ReferenceWeights weights = Widen(ReadFileTensors(files.file));
  ReferenceAttention attention;
  ReferenceLogits(config, weights, golden.ids, &attention);
  const std::size_t last = golden.ids.size() - 1;
  for (const KvFormat kv : {KvFormat::kF32, KvFormat::kQ8}) {
    const double tolerance = kv == KvFormat::kQ8 ? kQ8Tolerance : kF32Tolerance;
    TestModel model(TinyModelFolder(GetParam()), WeightFormat::kF32, kv);
    for (const std::size_t position : {std::size_t{0}, std::size_t{1}, last / 2, last}) {
      SCOPED_TRACE(position);
      const Inside inside = InspectLast(*model.context, std::span(golden.ids).first(position + 1));
      for (std::size_t row = 0; row < inside.attention.size(); ++row) {
        const std::size_t layer = row / config.n_head;
        const std::size_t head = row % config.n_head;
        const std::vector<float>& weights_of_head = inside.attention[row];
        const ReferenceRow found(weights_of_head.begin(), weights_of_head.end());
        ExpectNear(found, attention[layer][head][position], tolerance);
        if (position != last || golden.attention.is_null()) continue;
        ExpectNear(found, golden.attention[layer][head].get<ReferenceRow>(), tolerance);
      }
      if (kv == KvFormat::kQ8) continue;
      for (std::size_t stage = 0; stage <= config.n_layer; ++stage) {
        const std::vector<float>& x = inside.residuals[stage];
        const std::string name =
            stage == 0 ? std::string("embed") : "h." + std::to_string(stage - 1) + ".mlp";
        const auto expected = golden.trace[name][position].get<ReferenceRow>();
        ExpectNear({x.begin(), x.end()}, expected, tolerance);
        const auto guess = model.context->Unembed(DenseView(x.data(), 1, x.size())).value();
        ExpectNear(Softmax(guess.Row(0)), Softmax(ReferenceHead(config, weights, expected)),
                   tolerance);
      }
    }
  }
}

// Calls gpt2_inspect through the C API.
class ApiInspectTest : public ::testing::Test, public TestEngine {
 protected:
  ApiInspectTest() {
    const ModelFiles files("tied");
    LoadModel(files.config, files.file);
  }

  void Begin() { Generate(golden.ids, {{"maxNewTokens", 0}}); }

  const Golden golden{TinyModelFolder("tied")};

  static constexpr const char* kRefusal = "no text is prefilled";
};

TEST_F(ApiInspectTest, InspectReturnsTheTopTokensOfEachStageAndTheAttentionOfEachHead) {
  TestModel model(TinyModelFolder("tied"), WeightFormat::kQ8, KvFormat::kQ8);
  const auto [residuals, attention] = InspectLast(*model.context, golden.ids);
  const std::size_t layers = residuals.size() - 1;
  for (int round = 0; round < 2; ++round) {  // the second time without a prefill
    Begin();
    while (gpt2_prefill_step(engine) == nullptr && gpt2_output(engine)->is_done == 0) continue;
    ASSERT_EQ(ErrorOf(gpt2_inspect(engine, 5)), "");
    const Json output = OutputJson(engine);
    ASSERT_EQ(output["tokens"].size(), 5 * (layers + 1));
    for (std::size_t i = 0; i < output["tokens"].size(); ++i) {
      const Json& token = output["tokens"][i];
      EXPECT_EQ(token["index"], i / 5);
      if (i % 5 == 0) continue;
      EXPECT_LE(token["logprob"], output["tokens"][i - 1]["logprob"]);
    }
    const std::size_t tokens = golden.ids.size();
    for (std::size_t i = 0; i < attention.size(); ++i) {
      const float* const row = gpt2_attention(engine) + i * tokens;
      EXPECT_EQ(std::vector<float>(row, row + tokens), attention[i]);
    }
  }
  // The last guesses are the distribution that a generation would draw from.
  const Json last = OutputJson(engine)["tokens"][5 * layers];
  Generate(golden.ids, {{"maxNewTokens", 1}, {"temperature", 0}});
  gpt2_step(engine);
  const Json drawn = OutputJson(engine)["tokens"][0];
  EXPECT_EQ(last["id"], drawn["id"]);
  EXPECT_EQ(last["logprob"], drawn["logprob"]);
}

TEST_F(ApiInspectTest, InspectNeedsAPrefilledText) {
  EXPECT_EQ(ErrorOf(gpt2_inspect(engine, 1)), kRefusal);
  Begin();
  EXPECT_EQ(ErrorOf(gpt2_inspect(engine, 1)), kRefusal);
  while (gpt2_prefill_step(engine) == nullptr && gpt2_output(engine)->is_done == 0) continue;
  EXPECT_EQ(ErrorOf(gpt2_inspect(engine, 0)), "");
  EXPECT_EQ(gpt2_output(engine)->token_count, 0u);
}

}  // namespace
}  // namespace gpt2::testing
