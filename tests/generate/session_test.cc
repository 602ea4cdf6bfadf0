#include "engine/generate/session.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/support/has.h"
#include "tests/support/session_steps.h"
#include "tests/support/test_model.h"

namespace gpt2::testing {
namespace {

class SessionTest : public ::testing::Test {
 protected:
  // Context 48, vocabulary 160.
  TestModel model{TinyModelFolder("tied"), WeightFormat::kF32, KvFormat::kF32};

  static std::vector<std::int32_t> Ids(std::size_t count) {
    std::vector<std::int32_t> ids(count);
    std::iota(ids.begin(), ids.end(), 1);
    return ids;
  }
  Session Begin(std::span<const std::int32_t> prompt, const GenerateOptions& options) {
    return std::move(Session::Begin(*model.context, nullptr, prompt, options).value());
  }
  std::vector<std::int32_t> Finish(Session& session) { return std::move(FinishAll(session)[0]); }
  // The tokens of each continuation.
  std::vector<std::vector<std::int32_t>> FinishAll(Session& session) {
    std::vector<std::vector<std::int32_t>> ids(session.continuations());
    while (!session.is_done()) {
      for (const GeneratedToken& token : NextTokens(session)) {
        ids[token.continuation].push_back(token.id);
      }
    }
    return ids;
  }
  std::vector<std::int32_t> Run(std::span<const std::int32_t> prompt,
                                const GenerateOptions& options) {
    Session session = Begin(prompt, options);
    return Finish(session);
  }
};

TEST_F(SessionTest, MaxLengthIncludesThePrompt) {
  GenerateOptions options{.max_new_tokens = 20, .max_length = 20};
  options.ignore_eos = true;
  EXPECT_EQ(Run(Ids(4), options).size(), 16u);
  EXPECT_EQ(Run(Ids(19), options).size(), 1u);
  const auto refused = Session::Begin(*model.context, nullptr, Ids(20), options);
  ASSERT_FALSE(refused.ok());
  EXPECT_TRUE(Has(refused.error().message, "the prompt has 20 tokens, and max_length"));
}

// A sampler without the order of the prompt's tokens would generate `next` again.
TEST_F(SessionTest, NgramsOfThePromptAreNotWrittenAgain) {
  GenerateOptions options{.max_new_tokens = 1, .temperature = 0, .ignore_eos = true};
  std::size_t tried = 0;
  for (std::int32_t first = 0; first < 160; ++first) {
    options.no_repeat_ngram_size = 0;
    std::vector<std::int32_t> prompt = {first};
    const std::int32_t next = Run(prompt, options)[0];
    prompt = {first, next, first};
    if (Run(prompt, options)[0] != next) continue;
    ++tried;
    options.no_repeat_ngram_size = 2;
    EXPECT_NE(Run(prompt, options)[0], next) << first;
    options.no_repeat_ngram_size = 4;  // longer than the prompt
    EXPECT_EQ(Run(prompt, options)[0], next) << first;
  }
  EXPECT_GT(tried, 0u);
}

TEST_F(SessionTest, AReusedCacheGivesTheSameTokens) {
  const GenerateOptions options{.max_new_tokens = 10, .temperature = 2};
  const auto fresh = Run(Ids(20), options);
  auto edited = Ids(20);
  edited[12] = 99;
  const auto other = Run(edited, options);
  Session again = Begin(Ids(20), options);
  EXPECT_EQ(again.reused_tokens(), 12u);  // up to the edit
  EXPECT_EQ(Finish(again), fresh);
  Session same = Begin(Ids(20), options);
  EXPECT_EQ(same.reused_tokens(), 19u);  // the last token runs again for its logits
  EXPECT_EQ(Finish(same), fresh);
  EXPECT_EQ(Run(edited, options), other);
}

TEST_F(SessionTest, ALongPromptKeepsItsLastPartAndReportsTheDroppedTokens) {
  const GenerateOptions options{.max_new_tokens = 1, .temperature = 0};
  const auto prompt = Ids(59);
  Session session = Begin(prompt, options);
  EXPECT_EQ(session.dropped_tokens(), 12u);
  const auto cut = Finish(session);
  EXPECT_EQ(cut, Run(std::span(prompt).last(47), options));
  EXPECT_EQ(Begin(std::span(prompt).last(48), options).dropped_tokens(), 0u);
}

// A text longer than the context reuses the cache when it grows, unless another quarter of the
// context must be dropped.
TEST_F(SessionTest, AGrowingLongPromptReusesTheCache) {
  const GenerateOptions options{.max_new_tokens = 1, .temperature = 0};
  std::vector<std::size_t> reused;
  for (std::size_t size = 40; size < 90; ++size) {
    Session session = Begin(Ids(size), options);
    reused.push_back(session.reused_tokens());
    EXPECT_EQ(session.dropped_tokens(), size <= 48  ? 0
                                        : size < 60 ? 12
                                        : size < 72 ? 24
                                        : size < 84 ? 36
                                                    : 48)
        << size;
    Finish(session);
  }
  for (std::size_t size = 41; size < 90; ++size) {
    const bool drops = size == 49 || size == 60 || size == 72 || size == 84;
    const std::size_t dropped = size <= 48 ? 0 : size / 12 * 12 - 36;
    EXPECT_EQ(reused[size - 40], drops ? 0 : size - dropped - 1) << size;
  }
}

TEST_F(SessionTest, GenerationContinuesPastTheEndOfTheContext) {
  const GenerateOptions options{.max_new_tokens = 150, .temperature = 2};
  Session session = Begin(Ids(40), options);
  EXPECT_EQ(Finish(session).size(), 150u);
  EXPECT_GE(session.dropped_tokens(), 150u + 40 - 48);
  EXPECT_LE(model.context->sequence().window().size(), 48u);
}

TEST_F(SessionTest, AShortenedWindowIsComputedLikeANewPrompt) {
  GenerateOptions options{.max_new_tokens = 12, .temperature = 0};
  const auto prompt = Ids(45);
  const auto written = Run(prompt, options);  // fills 48, keeps 36, goes on
  std::vector<std::int32_t> text = prompt;
  text.insert(text.end(), written.begin(), written.begin() + 4);
  options.max_new_tokens = 1;
  // 45 + 3 fill the context; pushing the fourth dropped 12.
  EXPECT_EQ(Run(std::span(text).subspan(12), options)[0], written[4]);
}

// The prompt is longer than one prefill step, and the text outgrows the context. The generation is
// suspended while it prefills, while it generates, and while it prefills again.
TEST_F(SessionTest, SuspendedGenerationsAreUnaffectedByOtherWork) {
  const auto prompt = Ids(40);
  for (const std::size_t n : {1, 3}) {
    for (const bool lookup : {true, false}) {
      GenerateOptions options{.max_new_tokens = 30, .temperature = 2, .n = n, .seed = 5};
      options.lookup = lookup;
      options.logprobs = 2;
      std::vector<std::vector<GeneratedToken>> expected(n), found(n);
      const auto step = [](Session& session, std::vector<std::vector<GeneratedToken>>& tokens) {
        for (GeneratedToken& token : NextTokens(session))
          tokens[token.continuation].push_back(token);
      };
      Session whole = Begin(prompt, options);
      while (!whole.is_done()) step(whole, expected);
      model.context->sequence().ClearCache();
      Session session = Begin(prompt, options);
      for (int steps = 0; !session.is_done(); ++steps) {
        session.Suspend();
        if (steps % 3 == 0) Run(Ids(10), {.max_new_tokens = 3});
        if (steps % 5 == 0) Run(Ids(3), {.max_new_tokens = 2, .n = 4});
        ASSERT_TRUE(session.Resume().ok());
        step(session, found);
      }
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_EQ(found[i].size(), expected[i].size());
        for (std::size_t t = 0; t < found[i].size(); ++t) {
          EXPECT_EQ(found[i][t].id, expected[i][t].id);
          EXPECT_EQ(found[i][t].logprob, expected[i][t].logprob);
          EXPECT_EQ(found[i][t].top[1].logprob, expected[i][t].top[1].logprob);
        }
        EXPECT_EQ(session.finish(i), whole.finish(i));
      }
      EXPECT_EQ(session.dropped_tokens(), whole.dropped_tokens());
    }
  }
}

TEST_F(SessionTest, ResumingImmediatelyRunsNoTokenAgain) {
  Session session = Begin(Ids(20), {.max_new_tokens = 10, .temperature = 0});
  while (session.prefill().done < 20) NextTokens(session);
  session.Suspend();
  ASSERT_TRUE(session.Resume().ok());
  EXPECT_EQ(model.context->sequence().pending(), 1u);
}

TEST_F(SessionTest, AStrictModeErrorStatesTheTokenCounts) {
  GenerateOptions options{.max_new_tokens = 9};
  options.strict = true;
  const auto refused = Session::Begin(*model.context, nullptr, Ids(40), options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kCapacity);
  EXPECT_EQ(refused.error().message,
            "the text is longer than the context: 40 prompt tokens and 9 new ones, but the context "
            "holds 48");
  options.max_new_tokens = 8;
  EXPECT_TRUE(Session::Begin(*model.context, nullptr, Ids(40), options).ok());
}

TEST_F(SessionTest, InvalidIdsAndEmptyPromptsAreRefused) {
  for (const std::int32_t id : {-1, 160, 1 << 30}) {
    const std::vector<std::int32_t> prompt = {1, id};
    const auto result = Session::Begin(*model.context, nullptr, prompt, {});
    ASSERT_FALSE(result.ok());
    EXPECT_TRUE(Has(result.error().message, std::to_string(id)));
  }
  EXPECT_FALSE(
      Session::Begin(*model.context, nullptr, {}, {}).ok());  // no end-of-text to start from
}

TEST_F(SessionTest, LogprobsIgnoreTheSamplingOptions) {
  GenerateOptions options{.max_new_tokens = 1, .temperature = 0, .logprobs = 160};
  options.repetition_penalty = 5;
  Session session = Begin(Ids(4), options);
  const std::vector<GeneratedToken> tokens = NextTokens(session);
  ASSERT_EQ(tokens.size(), 1u);
  double total = 0;
  for (const TokenLogprob& other : tokens[0].top) {
    total += std::exp(static_cast<double>(other.logprob));
    if (other.id == tokens[0].id) {
      EXPECT_EQ(other.logprob, tokens[0].logprob);
      EXPECT_EQ(&other - tokens[0].top.data() + 1, tokens[0].rank);
    }
  }
  EXPECT_NEAR(total, 1.0, 1e-5);
}

TEST_F(SessionTest, EachContinuationEqualsAGenerationWithItsSeed) {
  // 100 tokens reach past the end of the context, where each continuation is cut and prefilled
  // again separately.
  for (const auto& [length, kv] : {std::pair{5u, KvFormat::kF32},
                                   {5u, KvFormat::kQ8},
                                   {100u, KvFormat::kF32},
                                   {100u, KvFormat::kQ8}}) {
    model = TestModel(TinyModelFolder("tied"), WeightFormat::kF32, kv);
    GenerateOptions options{.max_new_tokens = length, .temperature = 2};
    options.repetition_penalty = 1.3;
    options.seed = 7;
    options.n = 3;
    Session together = Begin(Ids(20), options);
    const auto found = FinishAll(together);
    ASSERT_EQ(found.size(), 3u);
    options.n = 1;
    for (const auto& ids : found) {
      EXPECT_EQ(ids, Run(Ids(20), options)) << "seed " << options.seed;
      ++options.seed;
    }
    EXPECT_NE(found[0], found[1]);
  }
}

TEST_F(SessionTest, EachContinuationRunsEachTokenOnce) {
  Session session = Begin(Ids(20), {.max_new_tokens = 5, .n = 3});
  while (session.prefill().done < 20) NextTokens(session);
  for (int step = 0; step < 3; ++step) {
    EXPECT_EQ(NextTokens(session).size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(model.context->sequence(i).pending(), 1u);
  }
}

// A prompt that repeats itself, so that the drafter can guess.
std::vector<std::int32_t> Refrain(std::size_t length) {
  std::vector<std::int32_t> ids(length);
  for (std::size_t i = 0; i < length; ++i) ids[i] = static_cast<std::int32_t>(20 + i % 7);
  return ids;
}

TEST_F(SessionTest, LookupChangesNoToken) {
  std::size_t accepted = 0, rejected = 0;
  for (const double temperature : {0.0, 0.5, 1.0, 2.0}) {
    for (const std::size_t length : {1, 2, 30, 120}) {  // 120: past the end of the context
      GenerateOptions options{.max_new_tokens = length, .temperature = temperature, .seed = 3};
      options.top_k = 3;  // random weights would seldom repeat themselves otherwise
      options.repetition_penalty = temperature > 1 ? 1.1 : 1.0;
      Session guessing = Begin(Refrain(24), options);
      const auto found = Finish(guessing);
      accepted += guessing.accepted_tokens();
      rejected += guessing.drafted_tokens() - guessing.accepted_tokens();
      options.lookup = false;
      Session plain = Begin(Refrain(24), options);
      EXPECT_EQ(Finish(plain), found) << temperature << " " << length;
      EXPECT_EQ(plain.drafted_tokens(), 0u);
      EXPECT_EQ(plain.dropped_tokens(), guessing.dropped_tokens());
    }
  }
  EXPECT_GT(accepted, 20u);
  EXPECT_GT(rejected, 0u);
}

TEST_F(SessionTest, TheNextPromptReusesTheCacheAfterLookup) {
  GenerateOptions options{.max_new_tokens = 15, .temperature = 0};
  Session first = Begin(Refrain(20), options);
  auto text = Refrain(20);
  for (const std::int32_t id : Finish(first)) text.push_back(id);
  text.resize(30);
  Session again = Begin(text, options);
  EXPECT_GE(again.reused_tokens(), 29u);
  const auto reused = Finish(again);
  EXPECT_EQ(Run(Ids(3), options).size(), 15u);  // another text in between
  EXPECT_EQ(Run(text, options), reused);
}

TEST_F(SessionTest, ZeroNewTokensFinishAtOnce) {
  const Session session = Begin(Ids(3), {.max_new_tokens = 0});
  EXPECT_EQ(session.finish(), FinishReason::kLength);
}

}  // namespace
}  // namespace gpt2::testing
