// Changes and captures through the C API.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "engine/api/api.h"
#include "engine/model/hooks.h"
#include "tests/support/test_engine.h"

namespace gpt2::testing {
namespace {

using Ids = std::vector<std::int32_t>;

class ApiChangesTest : public ::testing::Test, public TestEngine {
 protected:
  ApiChangesTest() {
    const ModelFiles model("tied");
    config = LoadModel(model.config, model.file, R"({"kv":"q8"})")["config"];
  }

  using Numbers = std::vector<double>;

  void SetHooks(const Numbers& numbers) {
    EXPECT_EQ(gpt2_set_hooks(engine, numbers.data(), numbers.size()), nullptr);
  }
  Json Written(const Numbers& hooks) {
    SetHooks(hooks);
    EXPECT_EQ(
        ErrorOf(Generate(ids, {{"temperature", 0}, {"maxNewTokens", 6}, {"ignoreEos", true}})), "");
    return Finish();
  }
  void Inspect(const Numbers& hooks) {
    SetHooks(hooks);
    EXPECT_EQ(ErrorOf(Generate(ids, {{"maxNewTokens", 0}})), "");
    do {
      EXPECT_EQ(gpt2_prefill_step(engine), nullptr);
    } while (gpt2_output(engine)->is_done == 0);
    EXPECT_EQ(gpt2_inspect(engine, 1), nullptr);
  }
  Json Score(const Numbers& hooks) {
    SetHooks(hooks);
    EXPECT_EQ(gpt2_score(engine, ids.data(), ids.size() * sizeof ids[0], true, "", 0), nullptr);
    Json tokens = Json::array();
    while (gpt2_output(engine)->is_done == 0) {
      EXPECT_EQ(gpt2_score_step(engine), nullptr);
      const Json output = OutputJson(engine);
      for (const Json& token : output["tokens"]) tokens.push_back(token);
    }
    return tokens;
  }

  // The numbers of one change that sets or scales a value: see api.h.
  static Numbers ScaleMlpOut(double factor) {
    return {1, kMlpOut, 0, -1, -1, 1, factor, 0, 0, 0, 0};
  }
  static constexpr double kScores = static_cast<double>(Place::kScores);
  static constexpr double kPattern = static_cast<double>(Place::kPattern);
  static constexpr double kMlpOut = static_cast<double>(Place::kMlpOut);
  static constexpr double kLogits = static_cast<double>(Place::kLogits);

  Json config;
  const Ids ids = {5, 17, 40, 3, 99, 12, 7, 64, 31, 2, 150, 88};
};

TEST_F(ApiChangesTest, AChangeAffectsOnlyItsOwnRequest) {
  const Json plain = Written({});
  const Json changed = Written(ScaleMlpOut(-9));
  EXPECT_NE(changed, plain);
  EXPECT_EQ(Written({}), plain);
  EXPECT_EQ(Written(ScaleMlpOut(-9)), changed);  // from its own cache
  const Json scores = Score({});
  EXPECT_NE(Score(ScaleMlpOut(-9)), scores);
  EXPECT_EQ(Score({}), scores);
}

TEST_F(ApiChangesTest, ARequestThatFailsTakesItsChangesWithIt) {
  const Json plain = Written({});
  SetHooks(ScaleMlpOut(-9));
  EXPECT_NE(ErrorOf(Generate({-1})), "");
  EXPECT_EQ(Written({}), plain);
}

TEST_F(ApiChangesTest, ARequestWithTheSameChangesFindsItsTokensInTheCache) {
  const auto reused = [&](double factor) {
    SetHooks(ScaleMlpOut(factor));
    return Generate(ids)["result"]["reusedTokens"];
  };
  Written(ScaleMlpOut(-9));
  EXPECT_EQ(reused(-9), ids.size() - 1);
  EXPECT_EQ(reused(0), 0);
}

TEST_F(ApiChangesTest, InspectCapturesPlacesOfAllTokens) {
  Inspect({0, 2, kPattern, 0, kLogits, 0, 2, 1, 3});  // at positions 1 and 3
  const std::size_t heads = config["nHead"], vocab = config["vocabSize"];
  const float* const pattern = gpt2_captured(engine);
  EXPECT_NEAR(pattern[0] + pattern[1], 1, 1e-6);  // position 1 sees two tokens
  EXPECT_EQ(pattern[2], 0);
  const float* const logits = pattern + heads * 2 * ids.size();
  EXPECT_NE(logits[0], logits[vocab]);
}

TEST_F(ApiChangesTest, TheLastGuessHasTheChanges) {
  Inspect({1, kLogits, 0, -1, 7, 0, 1, 0, 1, 1000, 0, 0});
  const Json tokens = OutputJson(engine)["tokens"];
  EXPECT_EQ(tokens.back()["id"], 7);
  EXPECT_NE(tokens.front()["id"], 7);
}

TEST_F(ApiChangesTest, AHiddenTokenGetsNoAttention) {
  Inspect({1, kScores, 0, 0, 2, 0, 1, 1, 3, 1, -INFINITY, 1, kPattern, 0, 1, 3});
  EXPECT_EQ(gpt2_captured(engine)[2], 0);
  EXPECT_NE(gpt2_captured(engine)[1], 0);
}

TEST_F(ApiChangesTest, DamagedNumbersAreRefused) {
  for (const Numbers& numbers :
       {Numbers{1}, Numbers{0, 0, 0, 5}, Numbers{1e300}, Numbers{NAN, 0, 0},
        Numbers{0, 1, 99, 0, 0}, Numbers{0, 1, 0.5, 0, 0},
        Numbers{1, kMlpOut, 0, -1, -1, 3, 1, 0, 0, 0, 0}}) {
    SetHooks(numbers);
    EXPECT_EQ(ErrorOf(Generate(ids)), "the numbers of hooks are damaged");
  }
  SetHooks({0, 1, kMlpOut, 99, 0});
  EXPECT_EQ(ErrorOf(Generate(ids)), "a change or a capture is not in the model");
  SetHooks({1, kLogits, 0, -1, -1, 1, 3e38, 0, 0, 0, 0});
  Generate(ids);
  EXPECT_EQ(Finish()["error"]["message"],
            "the logits after position 11 (token id 88) are not finite after the changes");
}

}  // namespace
}  // namespace gpt2::testing
