// Weights that are finite, but so large that the results are not. The messages are the same
// bytes on every build: this test runs natively and in WebAssembly.
#include "engine/generate/not_finite.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/api/api.h"
#include "engine/generate/scorer.h"
#include "engine/generate/session.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/test_engine.h"

namespace gpt2::testing {
namespace {

// A hub's file with every value of one tensor replaced.
std::string WithTensor(const std::string& file, const std::string& name, float value) {
  FileTensors tensors = ReadFileTensors(file);
  std::ranges::fill(tensors.at(name).values, value);
  return SafetensorsFile(tensors);
}

const std::vector<std::int32_t> kIds = {5, 17, 40, 3};

struct Generated {
  std::vector<std::int32_t> ids;
  std::string error;
  std::size_t drafted = 0;
};
Generated Generate(Context& context, std::span<const std::int32_t> prompt,
                   const GenerateOptions& options) {
  context.sequence().ClearCache();
  Session session = std::move(Session::Begin(context, nullptr, prompt, options).value());
  Generated generated;
  while (!session.is_done() && generated.error.empty()) {
    const auto tokens = session.Step();
    if (!tokens.ok()) {
      generated.error = tokens.error().message;
      continue;
    }
    for (const GeneratedToken& token : tokens.value()) generated.ids.push_back(token.id);
  }
  generated.drafted = session.drafted_tokens();
  return generated;
}

std::string ErrorOfScoring(Context& context) {
  Scorer scorer = std::move(Scorer::Begin(context, kIds, 4).value());
  while (!scorer.is_done()) {
    const auto scores = scorer.Step();
    if (!scores.ok()) return scores.error().message;
  }
  return "";
}

TEST(NotFinite, AnErrorNamesThePositionAndTheTensor) {
  const ModelFiles tied("tied");
  for (const std::string huge : {"h.0.attn.c_attn.weight", "h.1.attn.c_proj.weight",
                                 "h.1.mlp.c_fc.weight", "h.0.mlp.c_proj.weight", "ln_f.weight"}) {
    for (const KernelTable* kernels : KernelTables()) {
      for (const WeightFormat format : {WeightFormat::kF32, WeightFormat::kQ8}) {
        TestModel model(ReadWeights(tied.config, WithTensor(tied.file, huge, 3e38f), format),
                        DefaultKvFormat(format), /*threads=*/1, *kernels);
        const std::string expected =
            std::string(") are not finite; the likely cause is tensor \"") + huge +
            "\": the first numbers that are not finite come from it";
        EXPECT_EQ(Generate(*model.context, kIds, {}).error,
                  "the logits after position 3 (token id 3" + expected)
            << kernels->name << " " << WeightFormatName(format);
        model.context->sequence().ClearCache();
        EXPECT_EQ(ErrorOfScoring(*model.context),
                  "the logits after position 0 (token id 5" + expected)
            << kernels->name << " " << WeightFormatName(format);
      }
    }
  }
}

// A draft reaches beyond the tokens that are generated, as far as a position of such numbers.
TEST(NotFinite, LookupFailsAfterTheSameTokensAsWithoutIt) {
  const ModelFiles tied("tied");
  std::vector<std::int32_t> prompt;
  for (std::int32_t i = 0; i < 24; ++i) prompt.push_back(20 + i % 7);
  std::size_t drafted = 0, failed = 0;
  for (std::size_t position = 24; position < 44; ++position) {
    FileTensors tensors = ReadFileTensors(tied.file);
    FileTensor& wpe = tensors.at("wpe.weight");
    const auto n_embd = static_cast<std::size_t>(wpe.shape[1]);
    std::ranges::fill(std::span(wpe.values).subspan(position * n_embd, n_embd), 3e38f);
    TestModel model(ReadWeights(tied.config, SafetensorsFile(tensors), WeightFormat::kF32),
                    KvFormat::kF32, /*threads=*/1, BestKernels());
    GenerateOptions options{.max_new_tokens = 20, .temperature = 0, .lookup = false};
    const Generated plain = Generate(*model.context, prompt, options);
    // A generation that ends earlier does not fail.
    if (position % 2 == 0 && !plain.ids.empty()) options.eos_token_ids = {plain.ids.back()};
    const Generated expected = Generate(*model.context, prompt, options);
    options.lookup = true;
    const Generated found = Generate(*model.context, prompt, options);
    EXPECT_EQ(found.ids, expected.ids) << position;
    EXPECT_EQ(found.error, expected.error) << position;
    drafted += found.drafted;
    failed += expected.error.empty() ? 0 : 1;
  }
  EXPECT_GT(drafted, 40u);
  EXPECT_GT(failed, 5u);
  EXPECT_LT(failed, 20u);
}

TEST(NotFinite, ANonFiniteValueIsFoundInEveryLane) {
  std::vector<float> values(37, -1.0f);
  EXPECT_TRUE(AllFinite(values));
  EXPECT_TRUE(AllFinite({}));
  for (const float bad : {std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity(), std::nanf("")}) {
    for (float& value : values) {
      value = bad;
      EXPECT_FALSE(AllFinite(values));
      value = std::numeric_limits<float>::max();
    }
    EXPECT_TRUE(AllFinite(values));
  }
}

TEST(NotFinite, TheApiReportsACorruptModelAndStaysUsable) {
  TestEngine engine;
  const auto [config, good] = ModelFiles("tied");
  const auto start = [&](auto call) {
    return ReplyJson(call(engine.engine, kIds.data(), kIds.size() * sizeof kIds[0], true, "", 0));
  };
  engine.LoadModel(config, WithTensor(good, "h.1.mlp.c_fc.weight", 3e38f));
  ASSERT_TRUE(start(gpt2_generate).contains("result"));
  const Json step = ReplyJson(gpt2_step(engine.engine));
  EXPECT_EQ(step["error"]["code"], "corrupt") << step;
  EXPECT_EQ(ReplyJson(gpt2_step(engine.engine))["error"]["code"], "invalid-argument");
  ASSERT_TRUE(start(gpt2_score).contains("result"));
  EXPECT_EQ(ReplyJson(gpt2_score_step(engine.engine))["error"]["code"], "corrupt");
  engine.LoadModel(config, good);
  ASSERT_TRUE(start(gpt2_generate).contains("result"));
  EXPECT_TRUE(ReplyJson(gpt2_step(engine.engine)).contains("result"));
}

}  // namespace
}  // namespace gpt2::testing
