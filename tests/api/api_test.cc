#include "engine/api/api.h"

#include <gtest/gtest.h>

#include "tests/support/test_model.h"

namespace gpt2::testing {
namespace {

// The C API with strings and JSON.
class ApiTest : public ::testing::Test {
 protected:
  ApiTest() : engine(gpt2_create(1)) {}
  ~ApiTest() override { gpt2_destroy(engine); }

  Json LoadBegin(const std::string& config) {
    return Json::parse(
        gpt2_load_begin(engine, config.data(), config.size(), "", 0, "", 0, "{}", 2));
  }
  Json Feed(const std::string& bytes) {
    return Json::parse(
        gpt2_load_weights(engine, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
  }
  void Load(const std::string& name) {
    const std::string folder = TinyModelFolder(name);
    ASSERT_TRUE(LoadBegin(ReadTestFile(folder + "/config.json")).contains("result"));
    ASSERT_TRUE(Feed(ReadTestFile(folder + "/model.safetensors")).contains("result"));
    const Json end = Json::parse(gpt2_load_end(engine));
    ASSERT_TRUE(end.contains("result")) << end;
  }
  Json Generate(const Json& request) {
    const std::string text = request.dump();
    return Json::parse(gpt2_generate(engine, text.data(), text.size()));
  }
  std::string ErrorOf(const Json& reply) {
    return reply.contains("error") ? reply["error"]["message"].get<std::string>() : "";
  }

  Gpt2Engine* engine;
};

TEST_F(ApiTest, GeneratesTheReferencesGreedyTokens) {
  Load("tied");
  const Golden golden(TinyModelFolder("tied"));
  const Json begun =
      Generate({{"prompt", golden.greedy_prompt},
                {"options", {{"temperature", 0}, {"maxNewTokens", golden.greedy_ids.size()}}}});
  ASSERT_TRUE(begun.contains("result")) << begun;
  EXPECT_EQ(begun["result"]["promptTokens"], golden.greedy_prompt.size());
  std::vector<std::int32_t> ids;
  std::string finish = "none";
  while (finish == "none") {
    const Json step = Json::parse(gpt2_step(engine))["result"];
    for (const Json& token : step["tokens"]) ids.push_back(token["id"]);
    if (step["isDone"]) finish = step["finishReasons"][0];
  }
  EXPECT_EQ(ids, golden.greedy_ids);
  EXPECT_EQ(finish, "length");
}

TEST_F(ApiTest, OptionsThatDoNotExistOrDoNotFitAreErrors) {
  Load("tied");
  const auto error_with = [&](const Json& options) {
    return ErrorOf(Generate({{"prompt", {1, 2}}, {"options", options}}));
  };
  EXPECT_EQ(error_with(Json::object()), "");
  EXPECT_NE(error_with({{"top_k", 3}}).find("there is no option \"top_k\""), std::string::npos);
  EXPECT_NE(error_with({{"topP", 1.5}}).find("topP is 1.5, expected a number from 0 to 1"),
            std::string::npos);
  EXPECT_NE(error_with({{"topK", 1.5}}).find("whole number"), std::string::npos);
  EXPECT_NE(error_with({{"temperature", nullptr}}).find("temperature is null"), std::string::npos);
  EXPECT_NE(error_with({{"ignoreEos", 1}}).find("true or false"), std::string::npos);
  EXPECT_NE(error_with({{"stop", {""}}}).find("empty"), std::string::npos);
  EXPECT_NE(error_with({{"stop", 3}}).find("array of strings"), std::string::npos);
}

TEST_F(ApiTest, CallsOutOfTurnAreErrors) {
  EXPECT_NE(ErrorOf(Json::parse(gpt2_step(engine))), "");
  EXPECT_NE(ErrorOf(Json::parse(gpt2_info(engine))), "");
  EXPECT_NE(ErrorOf(Json::parse(gpt2_load_end(engine))), "");
  EXPECT_NE(ErrorOf(Json::parse(gpt2_score_step(engine))), "");
  EXPECT_NE(ErrorOf(Feed("abc")), "");
  EXPECT_NE(ErrorOf(Generate({{"prompt", {1}}})), "");
  Load("tied");
  EXPECT_NE(ErrorOf(Generate({{"prompt", "text"}})).find("vocab.json"), std::string::npos);
  EXPECT_NE(ErrorOf(Generate({{"prompt", {1, -5}}})), "");
  EXPECT_NE(ErrorOf(Generate(Json())), "");
}

TEST_F(ApiTest, AFailedLoadCanBeTriedAgain) {
  ASSERT_TRUE(LoadBegin(ReadTestFile(TinyModelFolder("tied") + "/config.json")).contains("result"));
  EXPECT_EQ(Feed(std::string(64, '\xff'))["error"]["code"], "corrupt");
  Load("tied");
  EXPECT_EQ(Json::parse(gpt2_info(engine))["result"]["config"]["vocabSize"], 160);
}

TEST_F(ApiTest, ScoresAText) {
  Load("tied");
  const std::string request = R"({"prompt": [1, 2, 3, 4, 5]})";
  ASSERT_TRUE(Json::parse(gpt2_score(engine, request.data(), request.size())).contains("result"));
  const Json score = Json::parse(gpt2_score_step(engine))["result"];
  ASSERT_EQ(score["tokens"].size(), 5u);
  EXPECT_TRUE(score["tokens"][0]["logprob"].is_null());
  EXPECT_LT(score["logprob"].get<double>(), 0);
}

}  // namespace
}  // namespace gpt2::testing
