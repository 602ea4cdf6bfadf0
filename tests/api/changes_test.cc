// Changes and captures through the C API.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "engine/api/api.h"
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

  Json Written(const Json& change) {
    Json options = {{"temperature", 0}, {"maxNewTokens", 6}, {"ignoreEos", true}};
    if (!change.is_null()) options["change"] = change;
    EXPECT_EQ(ErrorOf(Generate(ids, options)), "");
    return Finish();
  }
  std::string ErrorOfChange(const Json& change) {
    return ErrorOf(Generate(ids, {{"change", Json::array({change})}}));
  }
  // The description of what is captured, or the error.
  Json Inspect(const Json& options) {
    Json all = options;
    all["maxNewTokens"] = 0;
    const Json begun = Generate(ids, all);
    if (begun.contains("error")) return begun;
    do {
      EXPECT_EQ(gpt2_prefill_step(engine), nullptr);
    } while (gpt2_output(engine)->is_done == 0);
    EXPECT_EQ(gpt2_inspect(engine, 1), nullptr);
    return ReplyJson(gpt2_captured(engine));
  }
  Json Score(const Json& options) {
    const std::string text = options.dump();
    if (const char* error = gpt2_score(engine, ids.data(), ids.size() * sizeof ids[0], true,
                                       text.data(), text.size())) {
      return Json::parse(error);
    }
    Json tokens = Json::array();
    while (gpt2_output(engine)->is_done == 0) {
      EXPECT_EQ(gpt2_score_step(engine), nullptr);
      const Json output = OutputJson(engine);
      for (const Json& token : output["tokens"]) tokens.push_back(token);
    }
    return tokens;
  }

  Json config;
  const Ids ids = {5, 17, 40, 3, 99, 12, 7, 64, 31, 2, 150, 88};
  const Json strong = Json::array({{{"at", "blocks.*.mlp_out"}, {"scale", -3}}});
};

TEST_F(ApiChangesTest, AChangeAffectsOnlyItsOwnRequest) {
  const Json plain = Written(nullptr);
  const Json changed = Written(strong);
  EXPECT_NE(changed, plain);
  EXPECT_EQ(Written(nullptr), plain);
  EXPECT_EQ(Written(strong), changed);  // from its own cache
  EXPECT_EQ(Written(Json::array()), plain);
  const Json scores = Score(Json::object());
  EXPECT_NE(Score({{"change", strong}}), scores);
  EXPECT_EQ(Score(Json::object()), scores);
}

TEST_F(ApiChangesTest, ARequestWithTheSameChangesFindsItsTokensInTheCache) {
  Written(strong);
  const Json again = Generate(ids, {{"change", strong}})["result"];
  EXPECT_EQ(again["reusedTokens"], ids.size() - 1);
  const Json other = Json::array({{{"at", "blocks.*.mlp_out"}, {"scale", 0}}});
  EXPECT_EQ(Generate(ids, {{"change", other}})["result"]["reusedTokens"], 0);
}

TEST_F(ApiChangesTest, InspectCapturesPlacesOfAllTokens) {
  const Json found =
      Inspect({{"capture", {"blocks.0.attn.pattern", "logits"}}, {"positions", {1, 3}}})["result"];
  const std::size_t heads = config["nHead"], vocab = config["vocabSize"], tokens = ids.size();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0]["name"], "blocks.0.attn.pattern");
  EXPECT_EQ(found[0]["shape"], (Json{heads, 2, tokens}));
  EXPECT_EQ(found[1]["shape"], (Json{2, vocab}));
  const float* const pattern = gpt2_captured_values(engine);
  EXPECT_NEAR(pattern[0] + pattern[1], 1, 1e-6);  // position 1 sees two tokens
  EXPECT_EQ(pattern[2], 0);
  const float* const logits = pattern + heads * 2 * tokens;
  EXPECT_NE(logits[0], logits[vocab]);
}

TEST_F(ApiChangesTest, TheLastGuessHasTheChanges) {
  const Json change = Json::array({{{"at", "logits"}, {"neuron", 7}, {"set", 1000}}});
  Inspect({{"change", change}});
  const Json tokens = OutputJson(engine)["tokens"];
  EXPECT_EQ(tokens.back()["id"], 7);
  EXPECT_NE(tokens.front()["id"], 7);
}

TEST_F(ApiChangesTest, AHiddenTokenGetsNoAttention) {
  const Json change = Json::array({{{"at", "blocks.0.attn.scores"},
                                    {"head", 0},
                                    {"query", 3},
                                    {"key", 2},
                                    {"set", "-Infinity"}}});
  Inspect({{"change", change}, {"capture", {"blocks.0.attn.pattern"}}, {"positions", {3}}});
  EXPECT_EQ(gpt2_captured_values(engine)[2], 0);
  EXPECT_NE(gpt2_captured_values(engine)[1], 0);
}

TEST_F(ApiChangesTest, ErrorsNameTheMember) {
  EXPECT_EQ(ErrorOfChange({{"at", "blocks.0.mlp.ost"}, {"set", 0}}),
            "\"blocks.0.mlp.ost\" is not a place of the forward pass; the nearest name is "
            "\"blocks.0.mlp.post\"");
  EXPECT_EQ(ErrorOfChange({{"set", 0}}), "a change has no \"at\", the name of its place");
  EXPECT_EQ(ErrorOfChange({{"at", "embed"}}),
            "a change has none or several of \"set\", \"scale\" and \"add\"");
  EXPECT_EQ(ErrorOfChange({{"at", "embed"}, {"set", 0}, {"heads", 1}}),
            "the members of a change have the unknown option \"heads\", expected one of at, head, "
            "neuron, position, query, key, set, scale, add, weight");
  EXPECT_EQ(ErrorOfChange({{"at", "embed"}, {"set", "nothing"}}),
            "change.set is \"nothing\", expected a number");
  EXPECT_EQ(ErrorOfChange({{"at", "embed"}, {"set", 0}, {"position", 1.5}}),
            "change.position is 1.5, expected a whole number of at least 0");
  EXPECT_EQ(ErrorOf(Generate(ids, {{"change", 5}})), "change is 5, expected a list");
  EXPECT_EQ(ErrorOf(Generate(ids, {{"capture", {"embed"}}})), "only inspect can capture");
  EXPECT_EQ(ErrorOf(Inspect({{"positions", {0}}})), "positions needs capture");
  EXPECT_EQ(ErrorOf(Inspect({{"capture", {7}}})), "capture is 7, expected the name of a place");
  EXPECT_EQ(ErrorOf(ReplyJson(gpt2_captured(engine))), "nothing is captured");
  const Json infinite = Json::array({{{"at", "logits"}, {"scale", 3e38}}});
  Generate(ids, {{"change", infinite}});
  EXPECT_EQ(Finish()["error"]["message"].get<std::string>().find("the logits after position " +
                                                                 std::to_string(ids.size() - 1)),
            0u);
}

}  // namespace
}  // namespace gpt2::testing
