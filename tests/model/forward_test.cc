// The forward pass, compared with a float64 reference and with itself when the tokens are split in
// every way.
#include "engine/model/forward.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>
#include <utility>

#include "engine/generate/changes.h"
#include "engine/generate/session.h"
#include "tests/support/hook_numbers.h"
#include "tests/support/reference_model.h"
#include "tests/support/session_steps.h"
#include "tests/support/test_model.h"
#include "tests/support/threads.h"

namespace gpt2::testing {
namespace {

constexpr double kMostQ8Divergence = 0.002;  // nats

class TinyModel : public ::testing::TestWithParam<std::string> {
 protected:
  std::string folder() const { return TinyModelFolder(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(All, TinyModel, ::testing::ValuesIn(TinyModelNames()), TestNameOf);

double KlDivergence(const std::vector<float>& expected, const std::vector<float>& found) {
  const auto log_sum = [](const std::vector<float>& logits) {
    double sum = 0;
    for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
    return std::log(sum);
  };
  const double p_sum = log_sum(expected), q_sum = log_sum(found);
  double divergence = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double p = expected[i] - p_sum, q = found[i] - q_sum;
    divergence += std::exp(p) * (p - q);
  }
  return divergence;
}

TEST(KlDivergence, MatchesKnownValues) {
  EXPECT_NEAR(KlDivergence({0, 0}, {0, 0}), 0, 1e-12);
  // (1/2, 1/2) against (3/4, 1/4): ln 2 - (ln 3) / 2
  EXPECT_NEAR(KlDivergence({0, 0}, {std::log(3.0f), 0}), std::log(2.0) - std::log(3.0) / 2, 1e-6);
}

TEST_P(TinyModel, FloatLogitsMatchTheReference) {
  const Golden golden(folder());
  TestModel model(folder(), WeightFormat::kF32, KvFormat::kF32);
  ExpectNear(model.Logits(golden.ids, 16), golden.logits);
}

TEST_P(TinyModel, AllLayerNormsUseTheEpsilonOfTheConfig) {
  const ModelFiles files(GetParam());
  Config config = files.parsed();
  config.layer_norm_epsilon = 0.5f;  // as large as the variances, so that it changes the result
  TestModel model(folder(), WeightFormat::kF32, KvFormat::kF32);
  model.weights->config.layer_norm_epsilon = config.layer_norm_epsilon;
  const std::vector<std::int32_t> ids = {5, 6, 7};
  ExpectNear(model.Logits(ids, 3),
             ReferenceLogits(config, Widen(ReadFileTensors(files.file)), ids));
}

TEST_P(TinyModel, ResidualStreamMatchesTheReferenceAtEveryStage) {
  const Golden golden(folder());
  TestModel model(folder(), WeightFormat::kF32, KvFormat::kF32);
  std::map<std::string, std::size_t> rows_seen;
  Reader reader(
      [](Place place) {
        return place == Place::kResidPre || place == Place::kResidMid ||
               place == Place::kResidPost || place == Place::kNormed;
      },
      [&](const HookPoint& point, MatView<const float> x) {
        if (point.place == Place::kResidPre && point.layer > 0) return;  // the end of a layer
        const std::string block = "h." + std::to_string(point.layer);
        const std::string stage = point.place == Place::kResidPre   ? "embed"
                                  : point.place == Place::kResidMid ? block + ".attn"
                                  : point.place == Place::kNormed   ? "ln_f"
                                                                    : block + ".mlp";
        ASSERT_TRUE(golden.trace.contains(stage)) << stage;
        for (std::size_t r = 0; r < x.rows; ++r) {
          const Json& expected = golden.trace[stage][rows_seen[stage]++];
          for (std::size_t i = 0; i < x.cols; ++i) {
            ASSERT_NEAR(x.Row(r)[i], expected[i].get<float>(), kF32Tolerance) << stage;
          }
        }
      });
  model.context->sequence().SetWindow(golden.ids);
  while (!model.context->sequence().is_current())
    model.context->Prefill(model.context->sequence(), 5, &reader);
  EXPECT_EQ(rows_seen.size(), golden.trace.size());
  for (const auto& [stage, rows] : rows_seen) EXPECT_EQ(rows, golden.ids.size()) << stage;
}

TEST_P(TinyModel, GreedyTokensMatchTheReference) {
  const Golden golden(folder());
  TestModel model(folder(), WeightFormat::kF32, KvFormat::kF32);
  GenerateOptions options{.max_new_tokens = golden.greedy_ids.size(), .temperature = 0};
  options.ignore_eos = true;
  Session session =
      std::move(Session::Begin(*model.context, nullptr, golden.greedy_prompt, options).value());
  std::vector<std::int32_t> ids;
  while (session.finish() == FinishReason::kNone) {
    for (const GeneratedToken& token : NextTokens(session)) ids.push_back(token.id);
  }
  EXPECT_EQ(ids, golden.greedy_ids);
}

TEST_P(TinyModel, EightBitLogitsStayCloseToTheReference) {
  const Golden golden(folder());
  for (const KvFormat kv : {KvFormat::kF32, KvFormat::kQ8}) {
    TestModel model(folder(), WeightFormat::kQ8, kv);
    const auto logits = model.Logits(golden.ids, 16);
    double divergence = 0;
    for (std::size_t row = 0; row < logits.size(); ++row) {
      divergence += KlDivergence(golden.logits[row], logits[row]);
    }
    EXPECT_LE(divergence / static_cast<double>(logits.size()), kMostQ8Divergence);
  }
}

TEST_P(TinyModel, ChunksThreadsAndKernelsDoNotChangeABit) {
  const Golden golden(folder());
  for (const WeightFormat format : {WeightFormat::kF32, WeightFormat::kQ8}) {
    const KvFormat kv = format == WeightFormat::kQ8 ? KvFormat::kQ8 : KvFormat::kF32;
    TestModel alone(folder(), format, kv);
    const auto expected = alone.Logits(golden.ids, kMaxBatch);
    for (const std::size_t chunk : {1, 2, 3, 5, 7, 16}) {
      EXPECT_EQ(alone.Logits(golden.ids, chunk), expected) << "chunks of " << chunk;
    }
    for (const std::size_t threads : {2, 3, 8}) {
      if (!kHasThreads) break;
      TestModel model(folder(), format, kv, threads);
      EXPECT_EQ(model.Logits(golden.ids, 6), expected) << threads << " threads";
    }
    for (const KernelTable* kernels : KernelTables()) {
      TestModel model(folder(), format, kv, 1, *kernels);
      EXPECT_EQ(model.Logits(golden.ids, 6), expected) << kernels->name;
    }
  }
}

// FNV-1a of the logits' bits.
std::uint64_t HashOf(const std::vector<std::vector<float>>& logits) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const auto& row : logits) {
    for (const float value : row) {
      hash = (hash ^ std::bit_cast<std::uint32_t>(value)) * 0x100000001b3u;
    }
  }
  return hash;
}

// These numbers are the contract between builds: every native and every WebAssembly build runs this
// test.
TEST(EveryBuild, ComputesTheSameBits) {
  const std::string folder = TinyModelFolder("tied");
  const Golden golden(folder);
  TestModel f32(folder, WeightFormat::kF32, KvFormat::kF32);
  EXPECT_EQ(HashOf(f32.Logits(golden.ids, 16)), 238342636497745349u);
  const std::pair<const char*, std::uint64_t> in_8_bits[] = {
      {"tied", 5548308280716481473u},
      {"exact-gelu", 11173656153224760662u},
      {"relu-by-layer", 4051118119551833586u},
      {"silu-unscaled", 1895499558366833484u},
      {"quick-gelu", 3422076657587123548u},
      {"bigcode-one-key-head", 4857507828887015120u},
      {"bigcode-interleaved", 12292618600330139417u}};
  for (const auto& [name, hash] : in_8_bits) {
    TestModel q8(TinyModelFolder(name), WeightFormat::kQ8, KvFormat::kQ8);
    EXPECT_EQ(HashOf(q8.Logits(Golden(TinyModelFolder(name)).ids, 16)), hash) << name;
  }
  // Scores that are changed take another path through the attention.
  TestModel q8(folder, WeightFormat::kQ8, KvFormat::kQ8);
  const auto numbers =
      HookNumbers({{.at = {Place::kScores, 0}, .kind = Change::Kind::kScale, .factor = 2}});
  q8.context->SetHooks(Changes::Create(q8.context->config(), numbers, golden.ids.size()).value());
  EXPECT_EQ(HashOf(q8.Logits(golden.ids, 16)), 17499992292001052520u);
}

}  // namespace
}  // namespace gpt2::testing
