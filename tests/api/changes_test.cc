// Changes and captures through the C API.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "engine/api/api.h"
#include "engine/model/hooks.h"
#include "tests/support/hook_numbers.h"
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
  Json Written() {
    EXPECT_EQ(
        ErrorOf(Generate(ids, {{"temperature", 0}, {"maxNewTokens", 6}, {"ignoreEos", true}})), "");
    return Finish();
  }
  Json Written(const Numbers& hooks) {
    SetHooks(hooks);
    return Written();
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

  static Numbers ScaleMlpOut(double factor) {
    return HookNumbers(
        {{.at = {Place::kMlpOut, 0}, .kind = Change::Kind::kScale, .factor = factor}});
  }

  Json config;
  const Ids ids = {5, 17, 40, 3, 99, 12, 7, 64, 31, 2, 150, 88};
};

TEST_F(ApiChangesTest, AChangeAffectsOnlyItsOwnRequest) {
  const Json plain = Written();
  const Json changed = Written(ScaleMlpOut(-9));
  EXPECT_NE(changed, plain);
  EXPECT_EQ(Written(), plain);
  EXPECT_EQ(Written(ScaleMlpOut(-9)), changed);  // from its own cache
  const Json scores = Score({});
  EXPECT_NE(Score(ScaleMlpOut(-9)), scores);
  EXPECT_EQ(Score({}), scores);
}

TEST_F(ApiChangesTest, ARequestThatFailsTakesItsChangesWithIt) {
  const Json plain = Written();
  SetHooks(ScaleMlpOut(-9));
  EXPECT_NE(ErrorOf(Generate({-1})), "");
  EXPECT_EQ(Written(), plain);
  SetHooks(ScaleMlpOut(-9));
  EXPECT_NE(ErrorOf(Generate(ids, {{"noSuchOption", 1}})), "");
  EXPECT_EQ(Written(), plain);
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

TEST_F(ApiChangesTest, OtherChangesFindTheTokensThatNeitherReaches) {
  const auto at = [&](Place place, double position) {
    return HookNumbers({{.at = {place, 0}, .positions = {position}, .values = {0.5}}});
  };
  const auto reused = [&](std::vector<double> hooks) {
    SetHooks(std::move(hooks));
    return Generate(ids)["result"]["reusedTokens"];
  };
  const Json at_seven = Written(at(Place::kResidPost, 7));
  Written(at(Place::kResidPost, 4));
  EXPECT_EQ(reused(at(Place::kResidPost, 7)), 4);
  EXPECT_EQ(Written(at(Place::kResidPost, 7)), at_seven);
  EXPECT_EQ(reused(at(Place::kScores, 7)), 0);  // its layer attends in plain float32 everywhere
}

TEST_F(ApiChangesTest, InspectCapturesPlacesOfAllTokens) {
  Inspect(HookNumbers({}, {{Place::kPattern, 0}, {Place::kLogits, 0}}, {1, 3}));
  const std::size_t heads = config["nHead"], vocab = config["vocabSize"];
  const std::size_t values = heads * 2 * ids.size() + 2 * vocab;
  EXPECT_EQ(gpt2_captured(engine, values - 1), nullptr);
  const float* const pattern = gpt2_captured(engine, values);
  EXPECT_NEAR(pattern[0] + pattern[1], 1, 1e-6);  // position 1 sees two tokens
  EXPECT_EQ(pattern[2], 0);
  const float* const logits = pattern + heads * 2 * ids.size();
  EXPECT_NE(logits[0], logits[vocab]);
}

TEST_F(ApiChangesTest, TheLastGuessHasTheChanges) {
  Inspect(HookNumbers({{.at = {Place::kLogits, 0}, .column = 7, .values = {1000}}}));
  const Json tokens = OutputJson(engine)["tokens"];
  EXPECT_EQ(tokens.back()["id"], 7);
  EXPECT_NE(tokens.front()["id"], 7);
}

TEST_F(ApiChangesTest, AHiddenTokenGetsNoAttention) {
  Inspect(HookNumbers({{.at = {Place::kScores, 0},
                        .head = 0,
                        .column = 2,
                        .positions = {3},
                        .values = {-kInfinity}}},
                      {{Place::kPattern, 0}}, {3}));
  const float* const pattern =
      gpt2_captured(engine, config["nHead"].get<std::size_t>() * ids.size());
  EXPECT_EQ(pattern[2], 0);
  EXPECT_NE(pattern[1], 0);
}

TEST_F(ApiChangesTest, ErrorsSayWhatIsWrong) {
  SetHooks({1});
  EXPECT_EQ(ErrorOf(Generate(ids)), "the numbers of hooks do not fit the model");
  SetHooks(
      HookNumbers({{.at = {Place::kLogits, 0}, .kind = Change::Kind::kScale, .factor = 3e38}}));
  Generate(ids);
  EXPECT_EQ(Finish()["error"]["message"],
            "the logits after position 11 (token id 88) are not finite after the changes");
}

}  // namespace
}  // namespace gpt2::testing
