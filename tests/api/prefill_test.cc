// Tests prefilling a text before the generation that needs it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/api/api.h"
#include "tests/support/test_engine.h"

namespace gpt2::testing {
namespace {

using Ids = std::vector<std::int32_t>;

class PrefillTest : public ::testing::Test, public TestEngine {
 protected:
  PrefillTest() {
    const ModelFiles model("tied");
    capacity = LoadModel(model.config, model.file, R"({"kv":"q8"})")["config"]["nPositions"];
    for (std::size_t i = 0; i < 40; ++i) text.push_back(static_cast<std::int32_t>(i * 31 % 160));
  }

  // The reply to the start, including {"done", "total"}, or the error.
  Json Begin(const Ids& ids) {
    const Json begun = Generate(ids, {{"maxNewTokens", 0}});
    return begun.contains("error") ? begun : OutputReply(engine, nullptr);
  }
  Json Step() { return OutputReply(engine, gpt2_prefill_step(engine)); }
  void Prefill(const Ids& ids) {
    Begin(ids);
    Json at;
    do {
      at = Step()["result"];
    } while (!at["isDone"]);
    EXPECT_EQ(at["done"], ids.size() - 1);
  }
  Json BeginGenerating(const Ids& ids) {
    const Json options = {{"temperature", 0}, {"maxNewTokens", 8}, {"logprobs", 3}};
    return Generate(ids, options)["result"]["reusedTokens"];
  }
  // The same tokens without a prefill: other texts clear the cache first.
  Json Plain(const Ids& ids) {
    Prefill({1, 2});
    Prefill({3, 4});
    EXPECT_EQ(BeginGenerating(ids), 0);
    return Finish();
  }

  std::size_t capacity = 0;
  Ids text;
};

TEST_F(PrefillTest, AGenerationAfterAPrefillRunsOneTokenAndGivesTheSameText) {
  const Json plain = Plain(text);
  Prefill({7, 8});
  const Json begun = Begin(text)["result"];
  EXPECT_EQ(begun["done"], 0);
  EXPECT_EQ(begun["total"], text.size());
  EXPECT_EQ(Step()["result"]["done"], 16);  // another request waits for at most 16 tokens
  EXPECT_EQ(Step()["result"]["done"], 32);
  const Json last = Step()["result"];
  EXPECT_EQ(last["done"], text.size() - 1);
  EXPECT_EQ(last["isDone"], true);
  EXPECT_EQ(BeginGenerating(text), text.size() - 1);
  EXPECT_EQ(Finish(), plain);
}

TEST_F(PrefillTest, TokensBeforeTheFirstChangeStayCached) {
  Ids changed = text;
  changed[30] = 159;
  const Json plain = Plain(changed);
  Prefill(text);
  const Json begun = Begin(changed)["result"];
  EXPECT_EQ(begun["done"], 30);
  EXPECT_EQ(Step()["result"]["isDone"], true);
  EXPECT_EQ(BeginGenerating(changed), changed.size() - 1);
  EXPECT_EQ(Finish(), plain);
  // An aborted prefill leaves its tokens in the cache.
  Prefill({9, 8});
  Begin(changed);
  Step();
  EXPECT_EQ(BeginGenerating(changed), 16);
  EXPECT_EQ(Finish(), plain);
  // A shorter text and a longer one run only the tokens that differ.
  const Ids shorter(changed.begin(), changed.begin() + 20);
  EXPECT_EQ(Begin(shorter)["result"]["done"], 20 - 1);
  EXPECT_EQ(Begin(changed)["result"]["done"], 20 - 1);
}

TEST_F(PrefillTest, ALongTextLosesAQuarterOfTheContextAtItsBeginning) {
  Ids longer;
  while (longer.size() < capacity + 9)
    longer.push_back(static_cast<std::int32_t>(longer.size() % 150));
  // A text longer than the context loses a quarter of a context.
  const std::size_t kept = longer.size() - capacity / 4;
  EXPECT_EQ(Begin(longer)["result"]["total"], kept);
  while (!Step()["result"]["isDone"]) continue;
  EXPECT_EQ(BeginGenerating(longer), kept - 1);
}

TEST_F(PrefillTest, OneTokenNeedsNoPrefill) {
  EXPECT_EQ(Begin({5})["result"]["total"], 1);
  for (int i = 0; i < 2; ++i) {
    const Json step = Step()["result"];
    EXPECT_EQ(step["isDone"], true);
    EXPECT_EQ(step["done"], 0);
  }
}

TEST_F(PrefillTest, AnotherCallEndsThePrefill) {
  const auto is_over = [&] { return Step()["error"]["message"] == "no prefill is under way"; };
  EXPECT_TRUE(is_over());
  Begin(text);
  BeginGenerating(text);
  EXPECT_TRUE(is_over());
  // A suspended generation resumes unchanged.
  const Json number = Json::parse(gpt2_suspend(engine))["result"];
  Begin({1, 2, 3});
  ASSERT_EQ(gpt2_resume(engine, number), nullptr);
  EXPECT_TRUE(is_over());
  const Json resumed = Finish();
  EXPECT_EQ(resumed, Plain(text));
}

TEST_F(PrefillTest, AnIdOutsideTheVocabularyIsRefused) {
  EXPECT_EQ(Begin({1, 160})["error"]["message"], "token id 160 at index 1, expected 0 to 159");
  EXPECT_EQ(Step()["error"]["message"], "no prefill is under way");
  Gpt2Engine* const empty = gpt2_create(1);
  EXPECT_EQ(ReplyJson(gpt2_prefill_step(empty))["error"]["message"], "no prefill is under way");
  gpt2_destroy(empty);
}

}  // namespace
}  // namespace gpt2::testing
