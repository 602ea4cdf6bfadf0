// The model's states of a token, layer by layer, compared with the float64 reference's trace.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engine/api/api.h"
#include "engine/generate/context.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/test_engine.h"

namespace gpt2::testing {
namespace {

// The bound of float32 against float64, as in model/forward_test.cc.
constexpr double kF32Tolerance = 1e-4;
// The keys are rounded to 8 bits, and the activations before them.
constexpr double kQ8Tolerance = 0.05;

using Row = std::vector<double>;

// The rows of `tensor`, or one row for a vector.
std::vector<Row> RowsOf(const FileTensor& tensor) {
  const auto cols = static_cast<std::ptrdiff_t>(tensor.shape.back());
  std::vector<Row> rows;
  for (auto at = tensor.values.begin(); at != tensor.values.end(); at += cols) {
    rows.emplace_back(at, at + cols);
  }
  return rows;
}

Row LayerNorm(const FileTensors& tensors, const std::string& name, const Row& x) {
  double mean = 0, variance = 0;
  const auto size = static_cast<double>(x.size());
  for (const double v : x) mean += v / size;
  for (const double v : x) variance += (v - mean) * (v - mean) / size;
  const Row gain = RowsOf(tensors.at(name + ".weight"))[0],
            bias = RowsOf(tensors.at(name + ".bias"))[0];
  Row y;
  for (std::size_t i = 0; i < x.size(); ++i) {
    y.push_back((x[i] - mean) / std::sqrt(variance + 1e-5) * gain[i] + bias[i]);
  }
  return y;
}

double Dot(const double* a, const double* b, std::size_t size) {
  double sum = 0;
  for (std::size_t i = 0; i < size; ++i) sum += a[i] * b[i];
  return sum;
}

void Softmax(Row& x) {
  const double most = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (double& v : x) sum += v = std::exp(v - most);
  for (double& v : x) v /= sum;
}

Row AttentionOf(const std::vector<float>& scores) {
  Row weights(scores.begin(), scores.end());
  Softmax(weights);
  return weights;
}

// A model of 2 layers, 4 heads, width 64 and a golden text of 48 tokens.
class InspectTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kWidth = 64, kHeads = 4, kLayers = 2;

  struct Inside {
    std::vector<std::vector<float>> residuals;
    std::vector<std::vector<float>> scores;
  };
  static Inside Inspect(TestModel& model, std::span<const std::int32_t> ids, std::size_t layer) {
    Sequence& sequence = model.context->sequence();
    sequence.SetWindow(ids);
    while (sequence.pending() > 1) model.context->Prefill(sequence, sequence.pending() - 1);
    std::vector<float> residuals((kLayers + 1) * kWidth), scores(kHeads * ids.size());
    model.context->Inspect(layer, DenseView(residuals.data(), kLayers + 1, kWidth),
                           DenseView(scores.data(), kHeads, ids.size()));
    Inside inside;
    for (std::size_t i = 0; i <= kLayers; ++i) {
      inside.residuals.emplace_back(&residuals[i * kWidth], &residuals[i * kWidth] + kWidth);
    }
    for (std::size_t i = 0; i < kHeads; ++i) {
      const float* const row = &scores[i * ids.size()];
      inside.scores.emplace_back(row, row + ids.size());
    }
    return inside;
  }

  // The residual stream of `position` after `stage`: 0 the embedding, i layer i.
  Row Golden64(std::size_t stage, std::size_t position) const {
    const std::string name =
        stage == 0 ? std::string("embed") : "h." + std::to_string(stage - 1) + ".mlp";
    return golden.trace[name][position].get<Row>();
  }
  // Attention [n_head][position + 1] in float64, computed from its definition.
  std::vector<Row> Attention64(std::size_t layer, std::size_t position) const {
    const std::string block = "h." + std::to_string(layer);
    const auto weight = RowsOf(tensors.at(block + ".attn.c_attn.weight"));  // [in, out]
    const Row bias = RowsOf(tensors.at(block + ".attn.c_attn.bias"))[0];
    std::vector<Row> qkv;
    for (std::size_t p = 0; p <= position; ++p) {
      const Row normed = LayerNorm(tensors, block + ".ln_1", Golden64(layer, p));
      Row y = bias;
      for (std::size_t i = 0; i < kWidth; ++i) {
        for (std::size_t o = 0; o < y.size(); ++o) y[o] += normed[i] * weight[i][o];
      }
      qkv.push_back(y);
    }
    constexpr std::size_t kDim = kWidth / kHeads;
    std::vector<Row> heads;
    for (std::size_t head = 0; head < kHeads; ++head) {
      Row weights;
      for (std::size_t p = 0; p <= position; ++p) {
        weights.push_back(Dot(&qkv[position][head * kDim], &qkv[p][kWidth + head * kDim], kDim) /
                          std::sqrt(double{kDim}));
      }
      Softmax(weights);
      heads.push_back(weights);
    }
    return heads;
  }

  std::string folder = TinyModelFolder("tied");
  Golden golden{folder};
  FileTensors tensors = ReadFileTensors(ReadTestFile(folder + "/model.safetensors"));
};

TEST_F(InspectTest, ResidualsAndAttentionMatchTheReference) {
  TestModel model(folder, WeightFormat::kF32, KvFormat::kF32);
  for (const std::size_t position : {0u, 1u, 17u, 47u}) {
    const std::span ids = std::span(golden.ids).first(position + 1);
    for (std::size_t layer = 0; layer < kLayers; ++layer) {
      const Inside inside = Inspect(model, ids, layer);
      for (std::size_t stage = 0; stage <= kLayers; ++stage) {
        const Row expected = Golden64(stage, position);
        for (std::size_t i = 0; i < kWidth; ++i) {
          EXPECT_NEAR(static_cast<double>(inside.residuals[stage][i]), expected[i], kF32Tolerance);
        }
      }
      const auto expected = Attention64(layer, position);
      for (std::size_t head = 0; head < kHeads; ++head) {
        const Row found = AttentionOf(inside.scores[head]);
        for (std::size_t p = 0; p <= position; ++p) {
          EXPECT_NEAR(found[p], expected[head][p], kF32Tolerance)
              << position << " " << layer << " " << head << " " << p;
        }
      }
    }
  }
}

TEST_F(InspectTest, AttentionOverEightBitKeysStaysCloseToTheReference) {
  TestModel model(folder, WeightFormat::kQ8, KvFormat::kQ8);
  const Inside inside = Inspect(model, golden.ids, 1);
  const auto expected = Attention64(1, golden.ids.size() - 1);
  for (std::size_t head = 0; head < kHeads; ++head) {
    const Row found = AttentionOf(inside.scores[head]);
    for (std::size_t p = 0; p < golden.ids.size(); ++p) {
      EXPECT_NEAR(found[p], expected[head][p], kQ8Tolerance);
    }
  }
}

TEST_F(InspectTest, ProbabilitiesAfterEachLayerMatchTheReference) {
  TestModel model(folder, WeightFormat::kF32, KvFormat::kF32);
  const Inside inside = Inspect(model, golden.ids, 0);
  const auto wte = RowsOf(tensors.at("wte.weight"));
  for (std::size_t stage = 0; stage <= kLayers; ++stage) {
    const auto logits =
        model.context->Unembed(DenseView(inside.residuals[stage].data(), 1, kWidth)).value().Row(0);
    const Row normed = LayerNorm(tensors, "ln_f", Golden64(stage, golden.ids.size() - 1));
    Row expected, found(logits.begin(), logits.end());
    for (const Row& row : wte) expected.push_back(Dot(row.data(), normed.data(), kWidth));
    Softmax(expected);
    Softmax(found);
    for (std::size_t id = 0; id < expected.size(); ++id) {
      EXPECT_NEAR(found[id], expected[id], kF32Tolerance) << stage << " " << id;
    }
  }
}

TEST(Inspect, AttentionMatchesTheReferenceForEachHeadLayout) {
  for (const char* name : {"bigcode-one-key-head", "bigcode-interleaved", "relu-by-layer"}) {
    const Golden golden(TinyModelFolder(name));
    for (const KvFormat kv : {KvFormat::kF32, KvFormat::kQ8}) {
      TestModel model(TinyModelFolder(name), WeightFormat::kF32, kv);
      const Config& config = model.weights->config;
      Sequence& sequence = model.context->sequence();
      for (std::size_t layer = 0; layer < config.n_layer; ++layer) {
        sequence.SetWindow(golden.ids);
        if (sequence.pending() > 1) model.context->Prefill(sequence, sequence.pending() - 1);
        std::vector<float> residuals((config.n_layer + 1) * config.n_embd);
        std::vector<float> scores(config.n_head * golden.ids.size());
        model.context->Inspect(layer,
                               DenseView(residuals.data(), config.n_layer + 1, config.n_embd),
                               DenseView(scores.data(), config.n_head, golden.ids.size()));
        for (std::size_t head = 0; head < config.n_head; ++head) {
          const auto row = std::span(scores).subspan(head * golden.ids.size(), golden.ids.size());
          const Row found = AttentionOf({row.begin(), row.end()});
          for (std::size_t p = 0; p < found.size(); ++p) {
            EXPECT_NEAR(found[p], golden.attention[layer][head][p].get<double>(),
                        kv == KvFormat::kQ8 ? kQ8Tolerance : kF32Tolerance)
                << name << " " << layer << " " << head << " " << p;
          }
        }
      }
    }
  }
}

// Calls gpt2_inspect through the C API.
class ApiInspectTest : public InspectTest, public TestEngine {
 protected:
  ApiInspectTest() {
    const ModelFiles files("tied");
    LoadModel(files.config, files.file);
  }

  void Begin() { Generate(golden.ids, {{"maxNewTokens", 0}}); }

  static constexpr const char* kRefusal = "no text is prefilled, or this layer does not exist";
};

TEST_F(ApiInspectTest, InspectReturnsTheTopTokensOfEachStageAndTheAttentionOfEachHead) {
  TestModel model(folder, WeightFormat::kQ8, KvFormat::kQ8);
  const Inside inside = Inspect(model, golden.ids, 1);
  for (int round = 0; round < 2; ++round) {  // the second time without a prefill
    Begin();
    while (gpt2_prefill_step(engine) == nullptr && gpt2_output(engine)->is_done == 0) continue;
    ASSERT_EQ(ErrorOf(gpt2_inspect(engine, 1, 5)), "");
    const Json output = OutputJson(engine);
    ASSERT_EQ(output["tokens"].size(), 5 * (kLayers + 1));
    for (std::size_t i = 0; i < output["tokens"].size(); ++i) {
      const Json& token = output["tokens"][i];
      EXPECT_EQ(token["index"], i / 5);
      if (i % 5 == 0) continue;
      EXPECT_LE(token["logprob"], output["tokens"][i - 1]["logprob"]);
    }
    const std::size_t tokens = golden.ids.size();
    for (std::size_t head = 0; head < kHeads; ++head) {
      const float* const row = gpt2_attention(engine) + head * tokens;
      EXPECT_EQ(std::vector<float>(row, row + tokens), inside.scores[head]);
    }
  }
  // The last guesses are the distribution that a generation would draw from.
  const Json last = OutputJson(engine)["tokens"][5 * kLayers];
  Generate(golden.ids, {{"maxNewTokens", 1}, {"temperature", 0}});
  gpt2_step(engine);
  const Json drawn = OutputJson(engine)["tokens"][0];
  EXPECT_EQ(last["id"], drawn["id"]);
  EXPECT_EQ(last["logprob"], drawn["logprob"]);
}

TEST_F(ApiInspectTest, InspectNeedsAPrefilledTextAndAnExistingLayer) {
  EXPECT_EQ(ErrorOf(gpt2_inspect(engine, 0, 1)), kRefusal);
  Begin();
  EXPECT_EQ(ErrorOf(gpt2_inspect(engine, 0, 1)), kRefusal);
  while (gpt2_prefill_step(engine) == nullptr && gpt2_output(engine)->is_done == 0) continue;
  EXPECT_EQ(ErrorOf(gpt2_inspect(engine, 2, 1)), kRefusal);
  EXPECT_EQ(ErrorOf(gpt2_inspect(engine, 0, 0)), "");
  EXPECT_EQ(gpt2_output(engine)->token_count, 0u);
}

}  // namespace
}  // namespace gpt2::testing
