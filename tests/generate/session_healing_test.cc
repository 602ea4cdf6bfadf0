// Compares a generation that starts in the middle of a word with the plainest implementation.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

#include "engine/base/concat.h"
#include "engine/generate/log_softmax.h"
#include "engine/generate/session.h"
#include "engine/generate/token_healer.h"
#include "tests/support/cover_search.h"
#include "tests/support/has.h"
#include "tests/support/random_tokenizer.h"
#include "tests/support/session_steps.h"
#include "tests/support/test_model.h"

namespace gpt2::testing {
namespace {

constexpr std::size_t kVocabSize = 160;

struct Written {
  std::vector<std::int32_t> ids;
  std::vector<std::string> texts;  // of each token
  std::vector<Healed> healed;      // likewise
  std::string text;
};

class SessionHealingTest : public ::testing::Test {
 protected:
  std::vector<std::int32_t> Encode(const std::string& text) const {
    return std::move(tokenizer.Encode(text, SpecialTokens::kAsText).value());
  }

  std::map<std::size_t, Written> WriteAll(const std::vector<std::int32_t>& prompt) {
    Session session =
        std::move(Session::Begin(*model.context, &tokenizer, prompt, options).value());
    std::map<std::size_t, Written> written;
    while (!session.is_done()) {
      if (suspends) {
        session.Suspend();
        model.context->sequence().SetWindow(std::vector{1, 2});
        EXPECT_TRUE(session.Resume().ok());
      }
      for (const GeneratedToken& token : NextTokens(session)) {
        Written& one = written[token.continuation];
        one.ids.push_back(token.id);
        one.texts.push_back(token.text);
        one.healed.push_back(token.healed);
        one.text += token.text;
      }
    }
    healed_tokens = session.healed_tokens();
    return written;
  }

  // Computes the logits after each beginning anew; `kept` are the tokens before it.
  void Weigh(const TokenHealer& healer, const std::vector<std::int32_t>& kept, Healing& healing) {
    const std::size_t words = healing.Kept().size();
    for (const auto& [ids, beginning] : healing.beginnings) {
      std::vector<std::int32_t> all(kept.begin(), kept.end() - static_cast<long>(words));
      all.insert(all.end(), ids.begin(), ids.end());
      const std::vector<float> logits = reference.Logits(all, 1).back();
      healer.Weigh(ids, logits, LogSoftmax(reference.context->compute(), logits), healing);
    }
  }

  // The tokens of a cover after the kept ones.
  std::vector<std::int32_t> TokensOf(const Healing& healing, std::size_t cover) {
    const std::size_t words = healing.Kept().size();
    const auto& [beginning, last] = healing.covers[cover];
    std::vector<std::int32_t> ids(beginning->begin() + static_cast<long>(words), beginning->end());
    ids.push_back(last);
    return ids;
  }

  // Draws one cover, then generates one token at a time from newly computed logits.
  std::vector<std::int32_t> BruteForce(const std::vector<std::int32_t>& prompt, std::size_t index) {
    const TokenHealer healer(tokenizer, tokenizer.end_of_text());
    Healing healing = healer.TakeBack(prompt);
    std::vector<std::int32_t> ids(prompt.begin(), prompt.end() - static_cast<long>(healing.tokens));
    if (ids.empty()) ids.push_back(*model.weights->config.eos_token_id);
    GenerateOptions seeded = options;
    seeded.seed += index;
    Sampler sampler(seeded, kVocabSize);
    for (const std::int32_t id : ids) sampler.Accept(id);
    Weigh(healer, ids, healing);
    const std::size_t drawn = sampler.Choose(healing.logprobs, [&](std::size_t i) {
      return healer.Admits(healing, *healing.covers[i].beginning, healing.covers[i].last);
    });
    std::vector<std::int32_t> written = TokensOf(healing, drawn);
    for (const std::int32_t id : written) sampler.Accept(id);
    ids.insert(ids.end(), written.begin(), written.end());
    const bool ends_prompt = tokenizer.Decode(written).value().size() == healing.bytes.size();
    for (std::size_t counted = ends_prompt ? 0 : 1; counted < options.max_new_tokens; ++counted) {
      written.push_back(sampler.Sample(reference.Logits(ids, 1).back()));
      ids.push_back(written.back());
      sampler.Accept(written.back());
    }
    return written;
  }

  TestModel model{TinyModelFolder("tied"), WeightFormat::kF32, KvFormat::kF32};
  TestModel reference{TinyModelFolder("tied"), WeightFormat::kF32, KvFormat::kF32};
  Tokenizer tokenizer = RandomTokenizer({"a", "b", "l", "'", "Ġ", "Ã", "©"}, kVocabSize, 1);
  GenerateOptions options{.max_new_tokens = 6, .temperature = 1.5, .top_k = 0, .ignore_eos = true};
  bool suspends = false;
  std::size_t healed_tokens = 0;
};

TEST_F(SessionHealingTest, TokensMatchANaiveGenerationThatDrawsOneCover) {
  model.weights->config.eos_token_id = tokenizer.end_of_text();
  reference.weights->config.eos_token_id = tokenizer.end_of_text();
  options.heal = true;
  std::size_t several = 0;
  std::map<Healed, std::size_t> healed_as;
  Random random(5);
  const std::string parts[] = {"a", "b", "l", "'", " ", "é"};
  for (std::uint64_t round = 0; round < 120; ++round) {
    std::string text;
    for (std::uint64_t size = 1 + random.Next() % 9; size > 0; --size) {
      text += parts[random.Next() % 6];
    }
    const auto prompt = Encode(text);
    options.seed = round;
    options.n = round % 3 == 0 ? 3 : 1;
    options.temperature = round % 4 == 0 ? 0 : 1.5;
    options.top_k = round % 5 == 0 ? 2 : 0;
    options.top_p = round % 2 == 0 ? 0.7 : 1;
    options.repetition_penalty = round % 7 == 0 ? 1.8 : 1;
    suspends = round % 6 == 0;
    options.lookup = round % 8 < 6;
    for (const auto& [index, written] : WriteAll(prompt)) {
      EXPECT_EQ(written.ids, BruteForce(prompt, index)) << text << " " << round;
      // Each token's text is the part behind the prompt. An é of two tokens arrives whole.
      std::string all(
          tokenizer.Decode(std::span(prompt).first(prompt.size() - healed_tokens)).value());
      all += tokenizer.Decode(written.ids).value();
      ASSERT_TRUE(all.starts_with(text)) << text;
      std::string behind;
      AppendUtf8(std::string_view(all).substr(text.size()), behind);
      EXPECT_EQ(written.text, behind) << text;
      if (written.ids.size() > options.max_new_tokens) ++several;
      std::size_t size = all.size() - tokenizer.Decode(written.ids).value().size();
      for (std::size_t i = 0; i < written.ids.size(); ++i) {
        const std::size_t begin = size;
        size += tokenizer.TokenBytes(written.ids[i]).size();
        const Healed expected = size <= text.size()   ? Healed::kAll
                                : begin < text.size() ? Healed::kSome
                                                      : Healed::kNone;
        EXPECT_EQ(written.healed[i], expected) << text << " " << i;
        ++healed_as[expected];
      }
    }
  }
  EXPECT_GT(several, 10u);  // tokens that only heal are not counted
  EXPECT_GT(healed_as[Healed::kAll], 10u);
  EXPECT_GT(healed_as[Healed::kSome], 10u);
}

// The reference enumerates covers by encoding texts, and sums in double precision.
TEST_F(SessionHealingTest, CoversHaveTheModelsConditionalDistribution) {
  const std::string alphabet = "abl' \xc3\xa9";
  const std::set<std::string> following = TextsThatFollow(tokenizer, alphabet);
  const TokenHealer healer(tokenizer, tokenizer.end_of_text());
  const std::int32_t start = *tokenizer.end_of_text();
  std::size_t several = 0;
  for (const std::string text : {"aa", "baa", " bal", "a'al", "l'l", "b ", "al  ", "\xc3\xa9"}) {
    const auto prompt = Encode(text);
    Healing healing = healer.TakeBack(prompt);
    const std::size_t kept = prompt.size() - healing.tokens;
    std::vector<std::int32_t> window = {start};
    window.insert(window.end(), prompt.begin(), prompt.begin() + static_cast<long>(kept));
    Weigh(healer, window, healing);
    std::map<std::vector<std::int32_t>, double> weights, expected;
    for (std::size_t i = 0; i < healing.covers.size(); ++i) {
      const auto& [beginning, last] = healing.covers[i];
      if (!healer.Admits(healing, *beginning, last)) continue;
      weights[TokensOf(healing, i)] = std::exp(healing.logprobs[i] / options.temperature);
    }
    for (const auto& [beginning, last] : SearchCovers(tokenizer, text, kept, following)) {
      if (!beginning.empty()) ++several;
      for (const std::int32_t id : last) {
        std::vector<std::int32_t> ids = beginning, all_ids = window;
        ids.push_back(id);
        double logprob = 0;
        for (const std::int32_t each : ids) {
          const std::vector<float> logits = reference.Logits(all_ids, 1).back();
          double sum = 0;
          for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
          logprob += static_cast<double>(logits[static_cast<std::size_t>(each)]) - std::log(sum);
          all_ids.push_back(each);
        }
        expected[ids] = std::exp(logprob / options.temperature);
      }
    }
    const auto normalize = [](auto& of) {
      double total = 0;
      for (const auto& [ids, weight] : of) total += weight;
      for (auto& [ids, weight] : of) weight /= total;
    };
    normalize(weights);
    normalize(expected);
    ASSERT_EQ(weights.size(), expected.size()) << text;
    double distance = 0;
    for (const auto& [ids, weight] : expected) distance += std::fabs(weight - weights[ids]) / 2;
    EXPECT_LT(distance, 1e-6) << text;
  }
  EXPECT_GT(several, 3u);
}

TEST_F(SessionHealingTest, OnlyAllowedAlternativesAreListed) {
  options.heal = true;
  options.logprobs = 100;
  const auto prompt = Encode("a b b baa");
  Session session = std::move(Session::Begin(*model.context, &tokenizer, prompt, options).value());
  ASSERT_GT(session.healed_tokens(), 0u);
  const std::string healed =
      tokenizer.Decode(std::span(prompt).last(session.healed_tokens())).value();
  std::vector<GeneratedToken> tokens;
  while (tokens.empty()) tokens = NextTokens(session);
  ASSERT_GT(tokens[0].top.size(), 1u);
  EXPECT_LT(tokens[0].top.size(), 100u);
  for (const TokenLogprob& other : tokens[0].top) {
    EXPECT_TRUE(std::isfinite(other.logprob));
    const std::string_view bytes = tokenizer.TokenBytes(other.id);
    EXPECT_TRUE(bytes.starts_with(healed) || healed.starts_with(bytes)) << bytes;
  }
}

// Without an end-of-text token to start from, the first token of the prompt stays.
TEST_F(SessionHealingTest, AOneTokenPromptIsHealedOnlyIfTheModelHasAnEosToken) {
  options.heal = true;
  const auto word = Encode("a");
  ASSERT_EQ(word.size(), 1u);
  model.weights->config.eos_token_id.reset();
  WriteAll(word);
  EXPECT_EQ(healed_tokens, 0u);
  model.weights->config.eos_token_id = tokenizer.end_of_text();
  WriteAll(word);
  EXPECT_EQ(healed_tokens, 1u);
}

// The covers of "aal" have up to three tokens, but it is one.
TEST_F(SessionHealingTest, AFullContextDropsItsStartForTheLongestCover) {
  options.heal = true;
  const std::size_t capacity = model.weights->config.n_positions;
  std::vector<std::int32_t> prompt(capacity - 1, *tokenizer.end_of_text());
  prompt.push_back(Encode("aal")[0]);
  const auto written = WriteAll(prompt)[0].ids;
  prompt.erase(prompt.begin(), prompt.begin() + static_cast<long>(DroppedWhenFull(capacity)));
  EXPECT_EQ(written, BruteForce(prompt, 0));
}

TEST_F(SessionHealingTest, StopStringsAreMatchedAfterThePrompt) {
  options.heal = true;
  options.max_new_tokens = 40;
  const std::string whole = WriteAll(Encode("ba"))[0].text;
  ASSERT_GT(whole.size(), 4u);
  options.stop = {whole.substr(2, 2)};
  EXPECT_EQ(WriteAll(Encode("ba"))[0].text, whole.substr(0, whole.find(options.stop[0])));
}

TEST_F(SessionHealingTest, HealingNeedsItsOptionAndNewTokensAndATokenizer) {
  WriteAll(Encode("ab"));
  EXPECT_EQ(healed_tokens, 0u);
  options.heal = true;
  options.max_new_tokens = 0;
  WriteAll(Encode("ab"));
  EXPECT_EQ(healed_tokens, 0u);
  const auto refused = Session::Begin(*model.context, nullptr, std::vector{1}, options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "heal needs a tokenizer, which the model lacks");
}

// Writing the removed bytes again may take more tokens than were removed.
TEST_F(SessionHealingTest, StrictModeReservesATokenForEachRemovedByte) {
  options.heal = options.strict = true;
  const std::size_t capacity = model.weights->config.n_positions;
  std::vector<std::int32_t> prompt = {*tokenizer.end_of_text(), 8};
  while (tokenizer.TokenBytes(prompt[1]).size() < 2 ||
         Encode(std::string(tokenizer.TokenBytes(prompt[1]))).size() > 1) {
    ++prompt[1];
  }
  const TokenHealer healer(tokenizer, model.weights->config.eos_token_id);
  const Healing healing = healer.TakeBack(prompt);
  ASSERT_GT(healing.bytes.size(), healing.tokens);
  options.max_new_tokens = capacity - prompt.size() + healing.tokens - healing.bytes.size();
  EXPECT_TRUE(Session::Begin(*model.context, &tokenizer, prompt, options).ok());
  ++options.max_new_tokens;
  const auto refused = Session::Begin(*model.context, &tokenizer, prompt, options);
  ASSERT_FALSE(refused.ok());
  const std::size_t most = prompt.size() - healing.tokens + healing.bytes.size();
  EXPECT_TRUE(Has(refused.error().message, Concat("2 prompt tokens (up to ", most, " if its")));
}

}  // namespace
}  // namespace gpt2::testing
