#include "engine/api/api.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/api/output.h"
#include "tests/support/has.h"
#include "tests/support/rewritten_tokenizer.h"
#include "tests/support/test_engine.h"

// Defined in c_caller.c.
extern "C" int TokensOfAStepWithoutModel(void);

namespace gpt2::testing {
namespace {

class ApiTest : public ::testing::Test, public TestEngine {
 protected:
  void Load(const std::string& name, const std::string& options = "{}") {
    const ModelFiles model(name);
    info = LoadModel(model.config, model.file, options);
  }
  Json Generate(const Json& request) {
    return TestEngine::Generate(request["prompt"], request.value("options", Json::object()));
  }
  Json Step() { return OutputReply(engine, gpt2_step(engine)); }
  Json ScoreStep() { return OutputReply(engine, gpt2_score_step(engine)); }

  Json info;  // of the model that Load loaded last
};

TEST_F(ApiTest, GreedyTokensMatchTheReference) {
  Load("tied");
  const Golden golden(TinyModelFolder("tied"));
  const Json begun =
      Generate({{"prompt", golden.greedy_prompt},
                {"options", {{"temperature", 0}, {"maxNewTokens", golden.greedy_ids.size()}}}});
  ASSERT_TRUE(begun.contains("result")) << begun;
  EXPECT_EQ(begun["result"]["promptTokens"], golden.greedy_prompt.size());
  std::vector<std::int32_t> ids;
  EXPECT_NE(ErrorOf(gpt2_summary(engine)), "");  // the load is not finished
  for (Json step = OutputJson(engine); !step["isDone"];) {
    step = Step()["result"];
    for (const Json& token : step["tokens"]) ids.push_back(token["id"]);
  }
  EXPECT_EQ(ids, golden.greedy_ids);
  const Json summary = Json::parse(gpt2_summary(engine))["result"];
  EXPECT_EQ(summary["finishReasons"], Json({"length"}));
  EXPECT_EQ(summary["droppedTokens"], 0);
}

TEST_F(ApiTest, UnknownAndInvalidGenerationOptionsAreRefused) {
  Load("tied");
  const auto error_with = [&](const Json& options) {
    return ErrorOf(Generate({{"prompt", {1, 2}}, {"options", options}}));
  };
  EXPECT_EQ(error_with(Json::object()), "");
  EXPECT_TRUE(Has(error_with({{"top_k", 3}}), "unknown option \"top_k\""));
  EXPECT_TRUE(Has(error_with({{"topP", 1.5}}), "topP is 1.5, expected a number from 0 to 1"));
  EXPECT_TRUE(
      Has(error_with({{"topK", 2.5}}), "topK is 2.5, expected a whole number from 0 to 16777216"));
  EXPECT_TRUE(Has(error_with({{"repetitionPenalty", "x"}}),
                  "repetitionPenalty is \"x\", expected a number from 0.01 to 100"));
  EXPECT_TRUE(Has(error_with({{"temperature", nullptr}}), "temperature is null"));
  EXPECT_TRUE(Has(error_with({{"ignoreEos", 1}}), "true or false"));
  EXPECT_TRUE(Has(error_with({{"stop", {""}}}), "empty"));
  EXPECT_TRUE(Has(error_with({{"stop", 3}}), "array of strings"));
}

TEST_F(ApiTest, OmittedOptionsTakeTheModelsOwnDefaults) {
  const auto write = [&](const Json& options) {
    std::vector<std::int32_t> ids;
    EXPECT_EQ(ErrorOf(Generate({{"prompt", {1, 2}}, {"options", options}})), "");
    for (Json step = OutputJson(engine); !step["isDone"];) {
      step = Step()["result"];
      for (const Json& token : step["tokens"]) ids.push_back(token["id"]);
    }
    return ids;
  };
  Load("tied");
  EXPECT_EQ(info["defaults"]["temperature"], 0.8);
  const auto greedy = write({{"temperature", 0}, {"maxNewTokens", 5}});
  const auto drawn = write({{"temperature", 2}, {"maxNewTokens", 5}, {"seed", 1}});
  ASSERT_NE(greedy, drawn);
  Load("tied", R"({"generationConfig": "{\"do_sample\": false, \"max_new_tokens\": 5}"})");
  EXPECT_EQ(info["defaults"]["temperature"], 0);
  EXPECT_EQ(info["defaults"]["maxNewTokens"], 5);
  EXPECT_EQ(write(Json::object()), greedy);
  EXPECT_EQ(write({{"temperature", 2}, {"seed", 1}}), drawn);
  EXPECT_EQ(write({{"maxNewTokens", 2}}).size(), 2);
  Load("tied");  // this time without a generation_config.json
  EXPECT_EQ(info["defaults"]["temperature"], 0.8);
}

TEST_F(ApiTest, CallsInTheWrongOrderReturnErrors) {
  EXPECT_NE(ErrorOf(Step()), "");
  EXPECT_NE(ErrorOf(gpt2_suspend(engine)), "");
  EXPECT_NE(ErrorOf(gpt2_resume(engine, 1)), "");
  EXPECT_NE(ErrorOf(gpt2_tune_threads(engine)), "");
  EXPECT_NE(ErrorOf(gpt2_load_end(engine)), "");
  EXPECT_NE(ErrorOf(ScoreStep()), "");
  EXPECT_NE(ErrorOf(Feed("abc")), "");
  EXPECT_NE(ErrorOf(Generate({{"prompt", {1}}})), "");
  Load("tied");
  EXPECT_TRUE(
      Has(ErrorOf(gpt2_generate(engine, "text", 4, /*is_ids=*/false, "", 0)), "has no tokenizer"));
  EXPECT_NE(ErrorOf(Generate({{"prompt", {1, -5}}})), "");
}

TEST_F(ApiTest, SuspendedGenerationsResumeWhereTheyStopped) {
  Load("tied");
  const Json request = {{"prompt", {1, 2, 3}}, {"options", {{"maxNewTokens", 6}, {"seed", 3}}}};
  const auto write = [&] {
    std::vector<std::int32_t> ids;
    for (Json step = {{"isDone", false}}; !step["isDone"];) {
      step = Step()["result"];
      for (const Json& token : step["tokens"]) ids.push_back(token["id"]);
    }
    return ids;
  };
  ASSERT_TRUE(Generate(request).contains("result"));
  const auto expected = write();
  EXPECT_NE(ErrorOf(gpt2_suspend(engine)), "");  // the generation has finished

  ASSERT_TRUE(Generate(request).contains("result"));
  const std::uint32_t first = Json::parse(gpt2_suspend(engine))["result"];
  EXPECT_NE(ErrorOf(Step()), "");
  ASSERT_TRUE(Generate(request).contains("result"));
  const std::uint32_t second = Json::parse(gpt2_suspend(engine))["result"];
  ASSERT_NE(first, second);
  gpt2_discard(engine, second);
  EXPECT_TRUE(Has(ErrorOf(gpt2_resume(engine, second)), "generation 2"));
  ASSERT_TRUE(ReplyJson(gpt2_resume(engine, first)).contains("result"));
  EXPECT_EQ(write(), expected);
  EXPECT_NE(ErrorOf(gpt2_resume(engine, first)), "");  // a generation resumes only once

  // A new load removes the other model's generations.
  ASSERT_TRUE(Generate(request).contains("result"));
  const std::uint32_t third = Json::parse(gpt2_suspend(engine))["result"];
  Load("tied");
  EXPECT_NE(ErrorOf(gpt2_resume(engine, third)), "");
}

TEST_F(ApiTest, TheApiCountsRunningThreads) {
  EXPECT_EQ(gpt2_started_threads(engine), 1u);
  gpt2_drop_unstarted_threads(engine);
  Load("tied");
  EXPECT_EQ(info["threads"], 1);
}

TEST_F(ApiTest, AFailedLoadRepeatsItsErrorUntilTheNextLoadBegins) {
  const std::string folder = TinyModelFolder("tied");
  ASSERT_TRUE(LoadBegin(ReadTestFile(folder + "/config.json")).contains("result"));
  const std::string error = ErrorOf(Feed(std::string(64, '\xff')));
  EXPECT_NE(error, "");
  EXPECT_EQ(ErrorOf(Feed(ReadTestFile(folder + "/model.safetensors"))), error);
  EXPECT_EQ(ErrorOf(gpt2_load_end(engine)), error);
  EXPECT_EQ(ErrorOf(gpt2_load_end(engine)), error);
  EXPECT_TRUE(Has(ErrorOf(Generate({{"prompt", {1}}})), "no model"));

  const std::string refused = ErrorOf(LoadBegin("[]"));
  EXPECT_EQ(ErrorOf(Feed("x")), refused);
  EXPECT_EQ(ErrorOf(gpt2_load_end(engine)), refused);
  Load("tied");
}

TEST_F(ApiTest, ALoadedModelSurvivesACallInTheWrongOrder) {
  Load("tied");
  EXPECT_NE(ErrorOf(Feed("x")), "");
  EXPECT_NE(ErrorOf(gpt2_load_end(engine)), "");
  EXPECT_EQ(ErrorOf(Generate({{"prompt", {1}}})), "");
}

TEST_F(ApiTest, AnErrorEndsTokenization) {
  Json vocabulary = {{"a", 0}};
  for (int id = 1; id < 160; ++id) vocabulary["a" + std::to_string(id)] = id;
  const std::string config = ReadTestFile(TinyModelFolder("tied") + "/config.json");
  const std::string vocab = vocabulary.dump();
  const std::string merges = "#version: 0.2\n";
  ASSERT_EQ(ErrorOf(gpt2_load_begin(engine, config.data(), config.size(), vocab.data(),
                                    vocab.size(), merges.data(), merges.size(), "{}", 2)),
            "");
  ASSERT_TRUE(
      Feed(ReadTestFile(TinyModelFolder("tied") + "/model.safetensors")).contains("result"));
  ASSERT_EQ(ErrorOf(gpt2_load_end(engine)), "");

  ASSERT_EQ(ErrorOf(gpt2_tokenize(engine, "ab", 2, "{}", 2)), "");
  EXPECT_TRUE(Has(ErrorOf(gpt2_tokenize_step(engine)), "no token for byte 98"));
  EXPECT_EQ(ErrorOf(gpt2_tokenize_step(engine)), "no text is being tokenized");
}

TEST_F(ApiTest, APromptIsTokenizedWithoutTheTokensAfterAText) {
  Json vocab = {{"a", 0}, {"<s>", 1}, {"</s>", 2}};
  const auto piece = [](const char* kind, const char* id) { return Json{{kind, {{"id", id}}}}; };
  const auto special = [](int id) { return Json{{"ids", {id}}}; };
  const Json json = {
      {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", Json::array()}}},
      {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
      {"decoder", {{"type", "ByteLevel"}}},
      {"post_processor",
       {{"type", "TemplateProcessing"},
        {"single",
         {piece("SpecialToken", "<s>"), piece("Sequence", "A"), piece("SpecialToken", "</s>")}},
        {"special_tokens", {{"<s>", special(1)}, {"</s>", special(2)}}}}}};
  const std::string text = json.dump();
  const Json written = Json::parse(WrittenTokenizer({.tokenizer = text}, 160).value());
  const std::string config = ReadTestFile(TinyModelFolder("tied") + "/config.json");
  const std::string tokens = written["vocab"], merges = written["merges"];
  const std::string options = Json{{"tokenizer", {{"rules", written["rules"]}}}}.dump();
  ASSERT_EQ(
      ErrorOf(gpt2_load_begin(engine, config.data(), config.size(), tokens.data(), tokens.size(),
                              merges.data(), merges.size(), options.data(), options.size())),
      "");
  ASSERT_EQ(ErrorOf(Feed(ReadTestFile(TinyModelFolder("tied") + "/model.safetensors"))), "");
  ASSERT_EQ(ErrorOf(gpt2_load_end(engine)), "");
  const auto ids = [&](const std::string& tokenize_options) {
    EXPECT_EQ(
        ErrorOf(gpt2_tokenize(engine, "aa", 2, tokenize_options.data(), tokenize_options.size())),
        "");
    const std::size_t count = ReplyJson(gpt2_tokenize_step(engine))["result"]["count"];
    const std::int32_t* const first = gpt2_token_ids(engine);
    return std::vector<std::int32_t>(first, first + count);
  };
  EXPECT_EQ(ids("{}"), (std::vector<std::int32_t>{1, 0, 0, 2}));
  EXPECT_EQ(ids(R"({"isPrompt": true})"), (std::vector<std::int32_t>{1, 0, 0}));
}

// JSON values that replace a request, text or ids.
std::vector<std::string> AnyJson() {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  return {"",
          " ",
          "null",
          "true",
          "0",
          "-0",
          "1e999",
          "-1",
          "1.5",
          "\"\"",
          "\"text\"",
          "\"\xff\"",
          "[]",
          "[[]]",
          "[null]",
          "[1, \"a\"]",
          "[1e300]",
          "[-1]",
          "[1.5]",
          "{}",
          "{",
          "{\"a\": 1}",
          deep,
          std::string("\0", 1),
          "\"\\ud800\"",
          "[99999999999]",
          "{\"prompt\": {}}",
          "{\"prompt\": [{}]}",
          "{\"text\": [1]}",
          "{\"kv\": " + deep + "}",
          "{\"prompt\": " + deep + "}",
          "{\"options\": 3, \"prompt\": [1]}",
          "{\"prompt\": [1], \"options\": {\"stop\": " + deep + "}}",
          "{\"prompt\": [1], \"options\": {\"stop\": [[\"a\"]]}}",
          "{\"prompt\": [1], \"stride\": []}"};
}

TEST_F(ApiTest, EveryRequestGetsAReply) {
  const std::string config = ReadTestFile(TinyModelFolder("tied") + "/config.json");
  for (const std::string& text : AnyJson()) {
    const char* data = text.data();
    const std::size_t size = text.size();
    gpt2_load_begin(engine, data, size, "", 0, "", 0, "{}", 2);
    gpt2_load_begin(engine, config.data(), config.size(), data, size, data, size, "{}", 2);
    const Json begun =
        ReplyJson(gpt2_load_begin(engine, config.data(), config.size(), "", 0, "", 0, data, size));
    EXPECT_EQ(begun.contains("result"), text == "{}") << text.substr(0, 80);
  }
  Load("tied");
  for (const std::string& text : AnyJson()) {
    const std::int32_t id = 1;
    const auto options = [&](auto call) {
      return ReplyJson(call(engine, &id, sizeof id, true, text.data(), text.size()));
    };
    for (const Json& reply : {ReplyJson(gpt2_tokenize(engine, "a", 1, text.data(), text.size())),
                              options(gpt2_generate), options(gpt2_score)}) {
      EXPECT_TRUE(reply.contains("error") || reply.contains("result"));
      if (!reply.contains("error")) continue;
      EXPECT_NE(reply["error"]["code"], "corrupt") << reply;
      EXPECT_LT(reply["error"]["message"].get<std::string>().size(), 500u);
    }
  }
}

TEST_F(ApiTest, UnknownAndInvalidLoadOptionsAreRefused) {
  const std::string config = ReadTestFile(TinyModelFolder("tied") + "/config.json");
  const auto error_with = [&](const std::string& options) {
    return ErrorOf(LoadBegin(config, options));
  };
  EXPECT_EQ(error_with(R"({"kv": "f32"})"), "");
  EXPECT_EQ(error_with(R"({"kv": null})"), "");
  const std::pair<const char*, const char*> refused[] = {
      {"[]", "the load options is an array of 0, expected an object"},
      {R"({"kv": 8})", "kv is 8"},
      {R"({"generationConfig": {}})", "generation_config.json"},
      {R"({"generationConfig": "{\"top_p\": 2}"})", "top_p is 2"},
      {R"({"KV": "q8"})", "unknown option \"KV\", expected one of kv"}};
  for (const auto& [options, why] : refused) {
    const std::string error = error_with(options);
    EXPECT_TRUE(Has(error, why)) << options << ": " << error;
  }
}

TEST_F(ApiTest, UnknownAndInvalidTokenizeAndScoreOptionsAreRefused) {
  Load("tied");
  const auto tokenize = [&](const std::string& options) {
    return ErrorOf(gpt2_tokenize(engine, "a", 1, options.data(), options.size()));
  };
  const auto score = [&](const std::string& options) {
    const std::int32_t ids[] = {1, 2};
    return ErrorOf(
        gpt2_score(engine, ids, sizeof ids, /*is_ids=*/true, options.data(), options.size()));
  };
  EXPECT_TRUE(Has(tokenize(R"({"special": true})"),
                  "unknown option \"special\", expected one of allowSpecial"));
  EXPECT_TRUE(Has(tokenize(R"({"allowSpecial": 1})"), "allowSpecial is 1"));
  EXPECT_TRUE(
      Has(score(R"({"Stride": 1})"), "unknown option \"Stride\", expected one of stride, start"));
  EXPECT_TRUE(Has(score(R"({"stride": 0.5})"), "stride is 0.5"));
  for (const std::string start : {"-1", "3", "1.5", "9007199254740992", "1e300", "null", "\"1\""}) {
    const std::string error = score("{\"start\": " + start + "}");
    EXPECT_TRUE(Has(error, ", expected a whole number from 0 to 2"));
    EXPECT_EQ(error.find("start is "), 0u) << error;
  }
}

TEST_F(ApiTest, TooManyOrTooLongStopStringsAreRefused) {
  Load("tied");
  const auto error_with = [&](const Json& stop) {
    return ErrorOf(Generate({{"prompt", {1, 2}}, {"options", {{"stop", stop}}}}));
  };
  EXPECT_TRUE(
      Has(error_with(std::vector<std::string>(1000, "a")), "1000 strings, expected at most 256"));
  EXPECT_TRUE(Has(error_with(std::string(100'000, 'a')), "100000 bytes, expected at most 1024"));
  EXPECT_TRUE(Has(error_with(std::string(1024, 'a')), "needs a tokenizer"));
}

TEST_F(ApiTest, ScoringStepsReturnOneLogprobPerToken) {
  Load("tied");
  std::vector<std::int32_t> ids(100);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i);
  Json score = OutputReply(engine, gpt2_score(engine, ids.data(), ids.size() * sizeof ids[0],
                                              /*is_ids=*/true, "", 0))["result"];
  Json tokens = score["tokens"];
  ASSERT_EQ(tokens.size(), 1u);
  EXPECT_TRUE(tokens[0]["logprob"].is_null());
  while (score["done"] != score["total"]) {
    score = ScoreStep()["result"];
    EXPECT_LE(score["tokens"].size(), 16u);
    for (const Json& token : score["tokens"]) {
      EXPECT_EQ(token["id"], tokens.size());
      EXPECT_LT(token["logprob"].get<double>(), 0);
      tokens.push_back(token);
    }
    EXPECT_EQ(score["done"], tokens.size());
  }
  EXPECT_EQ(tokens.size(), 100u);
  EXPECT_NE(ErrorOf(ScoreStep()), "");
}

TEST_F(ApiTest, ScoringCanStartAtAnyToken) {
  Load("tied");
  std::vector<std::int32_t> ids(100);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i);
  const auto score = [&](const std::string& options) {
    Json step =
        OutputReply(engine, gpt2_score(engine, ids.data(), ids.size() * sizeof ids[0],
                                       /*is_ids=*/true, options.data(), options.size()))["result"];
    Json tokens = step["tokens"];
    EXPECT_EQ(step["total"], ids.size());
    while (step["isDone"] == false) {
      step = ScoreStep()["result"];
      for (const Json& token : step["tokens"]) tokens.push_back(token);
    }
    EXPECT_EQ(step["done"], ids.size());
    return tokens;
  };
  const Json whole = score("");
  for (const int start : {0, 1, 60, 99, 100}) {
    const Json expected(Json::array_t(whole.begin() + start, whole.end()));
    EXPECT_EQ(score("{\"start\": " + std::to_string(start) + "}"), expected) << start;
  }
}

// The text is one string. Lengths count UTF-16 code units: 2 for a character of four bytes, else 1.
TEST(Output, HoldsTheTextOfEachTokenAndItsAlternatives) {
  Output output;
  output.Begin(/*done=*/2, /*total=*/5, /*is_done=*/false);
  output.Add({.index = 1, .id = 7, .logprob = -0.5f, .top_count = 2, .rank = 3},
             "\xe2\x82\xac\xf0\x9f\x98\x80");
  output.Add({.index = 1, .id = 8, .logprob = -1.0f}, "\xc3\xa9");
  output.Add({.index = 1, .id = 9}, "\xe2\x82");  // half a character: it is replaced
  output.Add({.id = 3}, "");
  const Gpt2Output& view = output.view();
  EXPECT_EQ(std::string(view.text, view.text_size),
            "\xe2\x82\xac\xf0\x9f\x98\x80\xc3\xa9\xef\xbf\xbd");
  ASSERT_EQ(view.token_count, 4u);
  EXPECT_EQ(view.tokens[0].text_length, 3u);
  EXPECT_EQ(view.tokens[0].top_count, 2u);
  EXPECT_EQ(view.tokens[0].rank, 3u);
  EXPECT_EQ(view.tokens[1].text_length, 1u);
  EXPECT_EQ(view.tokens[2].text_length, 1u);
  EXPECT_EQ(view.tokens[3].text_length, 0u);
  EXPECT_EQ(view.done, 2u);
  EXPECT_EQ(view.total, 5u);
  EXPECT_EQ(view.is_done, 0u);
  output.Begin(5, 5, /*is_done=*/true);
  EXPECT_EQ(view.token_count, 0u);
  EXPECT_EQ(view.text_size, 0u);
  EXPECT_EQ(view.is_done, 1u);
}

#ifndef __EMSCRIPTEN__
TEST(Api, CompilesAndRunsInC) {
  EXPECT_EQ(TokensOfAStepWithoutModel(), 0);
}
#endif

}  // namespace
}  // namespace gpt2::testing
