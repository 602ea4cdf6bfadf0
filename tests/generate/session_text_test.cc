// Tests where the text of a session ends, and what affects its tokens.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/format/vocabulary_files.h"
#include "engine/generate/session.h"
#include "tests/support/session_steps.h"
#include "tests/support/test_model.h"

namespace gpt2::testing {
namespace {

// Each of the 160 ids is a different letter, except for the last two: the halves of "é".
Tokenizer LetterTokenizer() {
  Json vocab;
  for (int id = 0; id < 158; ++id) {
    vocab[std::string(1, static_cast<char>('a' + id % 26)) + std::to_string(id)] = id;
  }
  vocab["Ã"] = 158;  // the byte 0xc3, as GPT-2's alphabet spells it
  vocab["©"] = 159;  // 0xa9
  return std::move(ReadTokenizer(vocab.dump(), "#version: 0.2\n", 160).value());
}

struct WrittenText {
  std::string text;
  std::vector<std::int32_t> ids;
  FinishReason finish;
};

class SessionTextTest : public ::testing::Test {
 protected:
  WrittenText Write(const std::vector<std::int32_t>& prompt, const GenerateOptions& with) {
    Session session = std::move(Session::Begin(*model.context, &tokenizer, prompt, with).value());
    WrittenText written;
    while (!session.is_done()) {
      for (const GeneratedToken& token : NextTokens(session)) {
        written.text += token.text;
        written.ids.push_back(token.id);
      }
    }
    written.finish = session.finish();
    return written;
  }

  TestModel model{TinyModelFolder("tied"), WeightFormat::kF32, KvFormat::kF32};
  Tokenizer tokenizer = LetterTokenizer();
  GenerateOptions options{.max_new_tokens = 12, .temperature = 2, .seed = 4};
};

TEST_F(SessionTextTest, TheTextEndsBeforeAStopString) {
  const WrittenText whole = Write({1, 2, 3}, options);
  EXPECT_EQ(whole.finish, FinishReason::kLength);
  ASSERT_GT(whole.text.size(), 10u);
  // It crosses the border of tokens.
  const std::string stop = whole.text.substr(whole.text.size() / 2, 4);
  options.stop = {stop};
  const WrittenText ended = Write({1, 2, 3}, options);
  EXPECT_EQ(ended.text, whole.text.substr(0, whole.text.find(stop)));
  EXPECT_EQ(ended.finish, FinishReason::kStop);
}

TEST_F(SessionTextTest, ContinuationsEndIndependently) {
  options.max_new_tokens = 40;
  options.n = 4;
  options.stop = {"a", "e", "7"};
  const std::vector<std::int32_t> prompt = {1, 2, 3, 4};
  Session session = std::move(Session::Begin(*model.context, &tokenizer, prompt, options).value());
  std::vector<std::string> texts(4);
  while (!session.is_done()) {
    for (const GeneratedToken& token : NextTokens(session)) texts[token.continuation] += token.text;
  }
  options.n = 1;
  for (std::size_t i = 0; i < texts.size(); ++i, ++options.seed) {
    const WrittenText alone = Write(prompt, options);
    EXPECT_EQ(texts[i], alone.text);
    EXPECT_EQ(session.finish(i), alone.finish);
  }
}

TEST_F(SessionTextTest, HeldBackTextIsReturnedAtTheEnd) {
  const std::string whole = Write({1, 2, 3}, options).text;
  ASSERT_FALSE(whole.empty());
  options.stop = {whole.substr(whole.size() - 2) + "never"};
  const WrittenText held = Write({1, 2, 3}, options);
  EXPECT_EQ(held.text, whole);
  EXPECT_EQ(held.finish, FinishReason::kLength);
}

TEST_F(SessionTextTest, AnEosTokenEndsTheTextUnlessIgnored) {
  const WrittenText whole = Write({1, 2, 3}, options);
  // The model's end of text is now the fifth token that it wrote.
  model.weights->config.eos_token_id = whole.ids[4];
  const auto first = std::find(whole.ids.begin(), whole.ids.end(), whole.ids[4]);
  const auto count = static_cast<std::size_t>(first - whole.ids.begin());
  const WrittenText ended = Write({1, 2, 3}, options);
  EXPECT_EQ(ended.finish, FinishReason::kEos);
  EXPECT_EQ(ended.ids.size(), count + 1);
  std::string before;
  for (std::size_t i = 0; i < count; ++i) before += tokenizer.TokenBytes(whole.ids[i]);
  EXPECT_EQ(ended.text, before);

  options.min_new_tokens = count + 1;
  const WrittenText longer = Write({1, 2, 3}, options);
  EXPECT_GT(longer.ids.size(), count + 1);
  EXPECT_TRUE(std::equal(whole.ids.begin(), first, longer.ids.begin()));

  options.ignore_eos = true;
  const WrittenText ignored = Write({1, 2, 3}, options);
  EXPECT_EQ(ignored.finish, FinishReason::kLength);
  EXPECT_EQ(ignored.ids, whole.ids);
  EXPECT_EQ(ignored.text, whole.text);
}

TEST_F(SessionTextTest, EveryListedEosTokenEndsTheText) {
  const WrittenText whole = Write({1, 2, 3}, options);
  const auto expect_ended = [&] {
    const WrittenText ended = Write({1, 2, 3}, options);
    EXPECT_EQ(ended.finish, FinishReason::kEos);
    EXPECT_EQ(ended.ids.back(), whole.ids[4]);
    EXPECT_LE(ended.ids.size(), 5u);
  };
  options.eos_token_ids = {-1, whole.ids[4]};  // generation_config.json's
  expect_ended();
  options.eos_token_ids.clear();
  model.weights->config.other_eos_token_ids = {whole.ids[4]};  // config.json's
  expect_ended();
  options.eos_token_ids = {-1};  // overrides config.json's
  EXPECT_EQ(Write({1, 2, 3}, options).ids, whole.ids);
}

TEST_F(SessionTextTest, AnEmptyPromptStartsAtEndOfText) {
  model.weights->config.eos_token_id = 17;
  options.ignore_eos = true;
  EXPECT_EQ(Write({}, options).ids, Write({17}, options).ids);
}

TEST_F(SessionTextTest, AnIncompleteLastCharacterIsReplaced) {
  // Swaps the ids of the first generated token and of the first half of "é".
  Json vocab;
  for (int id = 0; id < 159; ++id) vocab["<" + std::to_string(id) + "\n>"] = id;
  vocab["Ã"] = 159;
  const WrittenText plain = Write({1, 2, 3}, options);
  Json swapped;
  for (const auto& [name, id] : vocab.items()) {
    const int other = id == 159 ? plain.ids[0] : id == plain.ids[0] ? 159 : id.get<int>();
    swapped[name] = other;
  }
  tokenizer = std::move(ReadTokenizer(swapped.dump(), "#version: 0.2\n", 160).value());
  options.max_new_tokens = 1;
  EXPECT_EQ(Write({1, 2, 3}, options).text, "\xef\xbf\xbd");
}

TEST_F(SessionTextTest, LogprobsReturnsThatManyAlternativesMostProbableFirst) {
  options.logprobs = 3;
  Session session =
      std::move(Session::Begin(*model.context, &tokenizer, std::vector{1, 2}, options).value());
  std::size_t tokens = 0;
  while (!session.is_done()) {
    for (const GeneratedToken& token : NextTokens(session)) {
      ++tokens;
      ASSERT_EQ(token.top.size(), 3u);
      EXPECT_GE(token.top[0].logprob, token.top[1].logprob);
      EXPECT_GE(token.top[1].logprob, token.top[2].logprob);
      EXPECT_LE(token.logprob, token.top[0].logprob);
    }
  }
  EXPECT_EQ(tokens, 12u);
}

}  // namespace
}  // namespace gpt2::testing
