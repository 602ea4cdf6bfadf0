#include "engine/api/api.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <utility>
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
  void Load(const std::string& options = "{}") {
    info = LoadModel(tied.config, tied.file, options);
  }
  Json Step() { return OutputReply(engine, gpt2_step(engine)); }
  Json ScoreStep() { return OutputReply(engine, gpt2_score_step(engine)); }
  // The ids up to the end of what is generated.
  std::vector<std::int32_t> FinishIds() {
    std::vector<std::int32_t> ids;
    for (const Json& token : Finish()) ids.push_back(token["id"]);
    return ids;
  }

  const ModelFiles tied = AsConverted(ModelFiles("tied"));
  Json info;  // of the model that Load loaded last
};

TEST_F(ApiTest, GreedyTokensMatchTheReference) {
  Load();
  const Golden golden(TinyModelFolder("tied"));
  const Json begun = Generate(golden.greedy_prompt,
                              {{"temperature", 0}, {"maxNewTokens", golden.greedy_ids.size()}});
  ASSERT_TRUE(begun.contains("result")) << begun;
  EXPECT_EQ(begun["result"]["promptTokens"], golden.greedy_prompt.size());
  EXPECT_NE(ErrorOf(gpt2_summary(engine)), "");  // the generation is not finished
  EXPECT_EQ(FinishIds(), golden.greedy_ids);
  const Json summary = Json::parse(gpt2_summary(engine))["result"];
  EXPECT_EQ(summary["finishReasons"], Json({"length"}));
  EXPECT_EQ(summary["droppedTokens"], 0);
}

TEST_F(ApiTest, OmittedOptionsTakeTheModelsOwnDefaults) {
  const auto write = [&](const Json& options) {
    EXPECT_EQ(ErrorOf(Generate({1, 2}, options)), "");
    return FinishIds();
  };
  Load();
  EXPECT_EQ(info["defaults"]["temperature"], 0.8);
  const auto greedy = write({{"temperature", 0}, {"maxNewTokens", 5}});
  const auto drawn = write({{"temperature", 2}, {"maxNewTokens", 5}, {"seed", 1}});
  ASSERT_NE(greedy, drawn);
  Load(R"({"generationConfig": "{\"do_sample\": false, \"max_new_tokens\": 5}"})");
  EXPECT_EQ(info["defaults"]["temperature"], 0);
  EXPECT_EQ(info["defaults"]["maxNewTokens"], 5);
  EXPECT_EQ(write(Json::object()), greedy);
  EXPECT_EQ(write({{"temperature", 2}, {"seed", 1}}), drawn);
  EXPECT_EQ(write({{"maxNewTokens", 2}}).size(), 2);
  Load();  // this time without a generation_config.json
  EXPECT_EQ(info["defaults"]["temperature"], 0.8);
}

TEST_F(ApiTest, CallsInTheWrongOrderReturnErrorsAndKeepTheLoadedModel) {
  EXPECT_NE(ErrorOf(Step()), "");
  EXPECT_NE(ErrorOf(gpt2_suspend(engine)), "");
  EXPECT_NE(ErrorOf(gpt2_resume(engine, 1)), "");
  EXPECT_NE(ErrorOf(gpt2_tune_threads(engine)), "");
  EXPECT_NE(ErrorOf(gpt2_load_end(engine)), "");
  EXPECT_NE(ErrorOf(ScoreStep()), "");
  EXPECT_NE(ErrorOf(Feed("abc")), "");
  EXPECT_NE(ErrorOf(Generate({1})), "");
  Load();
  EXPECT_NE(ErrorOf(Feed("x")), "");
  EXPECT_NE(ErrorOf(gpt2_load_end(engine)), "");
  EXPECT_TRUE(
      Has(ErrorOf(gpt2_generate(engine, "text", 4, /*is_ids=*/false, "", 0)), "has no tokenizer"));
  EXPECT_NE(ErrorOf(Generate({1, -5})), "");
  EXPECT_EQ(ErrorOf(Generate({1})), "");
}

TEST_F(ApiTest, SuspendedGenerationsResumeWhereTheyStopped) {
  Load();
  const auto begin = [&] {
    ASSERT_EQ(ErrorOf(Generate({1, 2, 3}, {{"maxNewTokens", 6}, {"seed", 3}})), "");
  };
  begin();
  const auto expected = FinishIds();
  EXPECT_NE(ErrorOf(gpt2_suspend(engine)), "");  // the generation has finished

  begin();
  const std::uint32_t first = Json::parse(gpt2_suspend(engine))["result"];
  EXPECT_NE(ErrorOf(Step()), "");
  begin();
  const std::uint32_t second = Json::parse(gpt2_suspend(engine))["result"];
  ASSERT_NE(first, second);
  gpt2_discard(engine, second);
  EXPECT_TRUE(Has(ErrorOf(gpt2_resume(engine, second)), "generation 2"));
  ASSERT_EQ(ErrorOf(gpt2_resume(engine, first)), "");
  EXPECT_EQ(FinishIds(), expected);
  EXPECT_NE(ErrorOf(gpt2_resume(engine, first)), "");  // a generation resumes only once

  // A new load removes the other model's generations.
  begin();
  const std::uint32_t third = Json::parse(gpt2_suspend(engine))["result"];
  Load();
  EXPECT_NE(ErrorOf(gpt2_resume(engine, third)), "");
}

TEST_F(ApiTest, TheApiCountsRunningThreads) {
  EXPECT_EQ(gpt2_started_threads(engine), 1u);
  gpt2_drop_unstarted_threads(engine);
  Load();
  EXPECT_EQ(info["threads"], 1);
}

TEST_F(ApiTest, AFailedLoadRepeatsItsErrorUntilTheNextLoadBegins) {
  ASSERT_EQ(ErrorOf(LoadBegin(tied.config)), "");
  const std::string error = ErrorOf(Feed(std::string(64, '\xff')));
  EXPECT_NE(error, "");
  EXPECT_EQ(ErrorOf(Feed(tied.file)), error);
  EXPECT_EQ(ErrorOf(gpt2_load_end(engine)), error);
  EXPECT_EQ(ErrorOf(gpt2_load_end(engine)), error);
  EXPECT_TRUE(Has(ErrorOf(Generate({1})), "no model"));

  const std::string refused = ErrorOf(LoadBegin("[]"));
  EXPECT_EQ(ErrorOf(Feed("x")), refused);
  EXPECT_EQ(ErrorOf(gpt2_load_end(engine)), refused);
  Load();
}

TEST_F(ApiTest, AnErrorEndsTokenization) {
  Json vocabulary = {{"a", 0}};
  for (int id = 1; id < 160; ++id) vocabulary["a" + std::to_string(id)] = id;
  LoadModel(tied.config, tied.file, "{}", vocabulary.dump(), "#version: 0.2\n");
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
  LoadModel(tied.config, tied.file, Json{{"tokenizer", {{"rules", written["rules"]}}}}.dump(),
            written["vocab"], written["merges"]);
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

TEST_F(ApiTest, UnknownAndInvalidOptionsAreRefused) {
  Load();
  const auto refusal = [&](auto call, const std::string& options) {
    const std::int32_t ids[] = {1, 2};
    const Json reply =
        ReplyJson(call(engine, ids, sizeof ids, /*is_ids=*/true, options.data(), options.size()));
    EXPECT_TRUE(reply.contains("result") || reply["error"]["code"] == "invalid-argument") << reply;
    return ErrorOf(reply);
  };
  const auto generate = [&](const Json& options) { return refusal(gpt2_generate, options.dump()); };
  const auto score = [&](const std::string& options) { return refusal(gpt2_score, options); };
  const auto tokenize = [&](const std::string& options) {
    return ErrorOf(gpt2_tokenize(engine, "a", 1, options.data(), options.size()));
  };
  EXPECT_EQ(generate(Json::object()), "");
  EXPECT_EQ(score("{}"), "");
  const std::pair<Json, const char*> refused[] = {
      {{{"top_k", 3}}, "unknown option \"top_k\""},
      {{{"topP", 1.5}}, "topP is 1.5, expected a number from 0 to 1"},
      {{{"topK", 2.5}}, "topK is 2.5, expected a whole number from 0 to 16777216"},
      {{{"repetitionPenalty", "x"}},
       "repetitionPenalty is \"x\", expected a number from 0.01 to 100"},
      {{{"temperature", nullptr}}, "temperature is null"},
      {{{"ignoreEos", 1}}, "true or false"},
      {{{"stop", {""}}}, "empty"},
      {{{"stop", 3}}, "array of strings"},
      {{{"stop", {{"a"}, 3}}}, "array of strings"},
      {{{"stop", std::vector<std::string>(1000, "a")}}, "1000 strings, expected at most 256"},
      {{{"stop", std::string(100'000, 'a')}}, "100000 bytes, expected at most 1024"},
      {{{"stop", std::string(1024, 'a')}}, "needs a tokenizer"},
      {Json::array(), "are an array of 0, expected an object"}};
  for (const auto& [options, why] : refused) EXPECT_TRUE(Has(generate(options), why));
  for (const std::string& error : {refusal(gpt2_generate, "{"), score("{"), tokenize("{")}) {
    EXPECT_TRUE(Has(error, "not valid JSON"));
  }
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

TEST_F(ApiTest, UnknownAndInvalidLoadOptionsAreRefused) {
  EXPECT_EQ(ErrorOf(LoadBegin(tied.config, R"({"kv": "f32"})")), "");
  EXPECT_EQ(ErrorOf(LoadBegin(tied.config, R"({"kv": null})")), "");
  const std::pair<const char*, const char*> refused[] = {
      {"{", "not valid JSON"},
      {"[]", "the load options are an array of 0, expected an object"},
      {R"({"kv": 8})", "kv is 8"},
      {R"({"generationConfig": {}})", "generation_config.json"},
      {R"({"generationConfig": "{\"top_p\": 2}"})", "top_p is 2"},
      {R"({"KV": "q8"})", "unknown option \"KV\", expected one of kv"}};
  for (const auto& [options, why] : refused) {
    EXPECT_TRUE(Has(ErrorOf(LoadBegin(tied.config, options)), why)) << options;
  }
}

TEST_F(ApiTest, AModelThatIsNotConvertedIsRefused) {
  const std::string refusal = ErrorOf(LoadBegin(ModelFiles("tied").config));
  EXPECT_TRUE(Has(refusal, "config.json has no \"quantization_config\": convert the model first"));
  EXPECT_EQ(ErrorOf(Feed(tied.file)), refusal);
}

TEST_F(ApiTest, ADamagedVocabularyIsRefused) {
  EXPECT_TRUE(Has(ErrorOf(LoadBegin(tied.config, "{}", "{", "a b")), "vocab.json"));
}

TEST_F(ApiTest, ScoringStepsReturnOneLogprobPerTokenFromAnyStart) {
  Load();
  std::vector<std::int32_t> ids(100);
  std::iota(ids.begin(), ids.end(), 0);
  Json whole;
  for (const std::size_t start : {0, 60, 100}) {
    const std::string options = Json{{"start", start}}.dump();
    Json step =
        OutputReply(engine, gpt2_score(engine, ids.data(), ids.size() * sizeof ids[0],
                                       /*is_ids=*/true, options.data(), options.size()))["result"];
    EXPECT_EQ(step["total"], ids.size());
    Json tokens = step["tokens"];
    while (step["isDone"] == false) {
      step = ScoreStep()["result"];
      EXPECT_LE(step["tokens"].size(), 16u);
      for (const Json& token : step["tokens"]) tokens.push_back(token);
    }
    EXPECT_EQ(step["done"], ids.size());
    EXPECT_NE(ErrorOf(ScoreStep()), "");
    if (start == 0) whole = tokens;
    ASSERT_EQ(tokens.size(), ids.size() - start);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      EXPECT_EQ(tokens[i], whole[start + i]) << start;
      EXPECT_EQ(tokens[i]["id"], start + i);
      EXPECT_EQ(tokens[i]["logprob"].is_null(), start + i == 0);
    }
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
