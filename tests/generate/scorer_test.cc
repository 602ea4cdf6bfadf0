#include "engine/generate/scorer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/generate/rank.h"
#include "tests/support/test_model.h"

namespace gpt2::testing {
namespace {

std::vector<TokenScore> ScoresOf(Context& context, std::span<const std::int32_t> ids,
                                 std::size_t stride, std::size_t start = 0) {
  Scorer scorer =
      std::move(Scorer::Begin(context, {ids.begin(), ids.end()}, stride, start).value());
  std::vector<TokenScore> scores;
  while (!scorer.is_done()) {
    const auto some = scorer.Step().value();
    scores.insert(scores.end(), some.begin(), some.end());
  }
  EXPECT_EQ(scorer.done(), ids.size());
  return scores;
}

TEST(Scorer, LogprobsAndRanksMatchTheReference) {
  const std::string folder = TinyModelFolder("tied");
  const Golden golden(folder);
  TestModel model(folder, WeightFormat::kF32, KvFormat::kF32);
  const auto scores = ScoresOf(*model.context, golden.ids, 24);
  ASSERT_EQ(scores.size(), golden.ids.size() - 1);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const auto& logits = golden.logits[i];
    const auto logit = logits[static_cast<std::size_t>(golden.ids[i + 1])];
    double sum = 0;
    for (const float other : logits) sum += std::exp(static_cast<double>(other));
    EXPECT_NEAR(scores[i].logprob, logit - std::log(sum), 2e-4);
    // Values that are rounded differently may change places with their neighbours.
    const auto larger_than = [&](auto least) {
      return std::ranges::count_if(logits, [&](auto other) { return other > least; });
    };
    EXPECT_GE(scores[i].rank, 1 + larger_than(logit + 2e-4));
    EXPECT_LE(scores[i].rank, 1 + larger_than(logit - 2e-4));
  }
}

TEST(RankOf, IsOneMoreThanTheNumberOfLargerLogits) {
  const std::vector<float> logits = {0.5f, -1.0f, 2.0f, 0.5f, -INFINITY, 3.0f, 0.25f};
  const std::uint32_t expected[] = {3, 6, 2, 3, 7, 1, 5};
  for (std::size_t i = 0; i < logits.size(); ++i) EXPECT_EQ(RankOf(logits, logits[i]), expected[i]);
  EXPECT_EQ(RankOf(std::span(logits).first(1), 0.5f), 1u);
}

TEST(Scorer, WindowsSlideOverALongText) {
  const std::string folder = TinyModelFolder("tied");
  TestModel model(folder, WeightFormat::kF32, KvFormat::kF32);
  std::vector<std::int32_t> ids(150);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i * 37 % 160);
  for (const std::size_t stride : {2, 7, 24, 47}) {
    const auto scores = ScoresOf(*model.context, ids, stride);
    ASSERT_EQ(scores.size(), 149u);
    // The first window reaches index 47, so this one is the second window's.
    const std::size_t start = stride;
    const auto window = std::span(ids).subspan(start, 48);
    const auto alone = ScoresOf(*model.context, window, 24);
    EXPECT_EQ(scores[start + 46].logprob, alone[46].logprob) << stride;
  }
}

std::vector<std::pair<float, std::uint32_t>> PairsOf(std::span<const TokenScore> scores) {
  std::vector<std::pair<float, std::uint32_t>> pairs;
  for (const TokenScore& score : scores) pairs.emplace_back(score.logprob, score.rank);
  return pairs;
}

TEST(Scorer, ScoresFromAnyStartAreBitIdenticalToAFullScoring) {
  for (const KvFormat kv : {KvFormat::kF32, KvFormat::kQ8}) {
    TestModel model(TinyModelFolder("tied"), WeightFormat::kF32, kv);
    Context& context = *model.context;
    std::vector<std::int32_t> ids(150);
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i * 37 % 160);
    for (const std::size_t length : {1, 30, 49, 150}) {
      const auto text = std::span(ids).first(length);
      for (const std::size_t stride : {7, 24, 47}) {
        const auto whole = ScoresOf(context, text, stride);
        for (const std::size_t start : {0, 1, 18, 29, 30, 47, 48, 49, 50, 100, 150}) {
          if (start > length) continue;
          const auto tail = std::span(whole).subspan(std::max<std::size_t>(start, 1) - 1);
          EXPECT_EQ(PairsOf(ScoresOf(context, text, stride, start)), PairsOf(tail));
          context.sequence().ClearCache();
          EXPECT_EQ(PairsOf(ScoresOf(context, text, stride, start)), PairsOf(tail))
              << length << " " << stride << " " << start;
        }
      }
    }
  }
}

TEST(Scorer, CachedTokensBeforeTheStartAreNotRunAgain) {
  TestModel model(TinyModelFolder("tied"), WeightFormat::kF32, KvFormat::kF32);
  Context& context = *model.context;
  std::vector<std::int32_t> ids(40);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i * 37 % 160);
  ScoresOf(context, ids, 24);
  ids[35] = 9;
  EXPECT_TRUE(Scorer::Begin(context, ids, 24, 35).ok());
  EXPECT_EQ(context.sequence().cached(), 34u);  // the token before 35 gives its logits
  const auto edited = ScoresOf(context, ids, 24, 35);
  TestModel fresh(TinyModelFolder("tied"), WeightFormat::kF32, KvFormat::kF32);
  const auto whole = ScoresOf(*fresh.context, ids, 24);
  EXPECT_EQ(PairsOf(edited), PairsOf(std::span(whole).subspan(34)));
}

TEST(Scorer, ATextOfOneTokenHasNoScores) {
  TestModel model(TinyModelFolder("tied"), WeightFormat::kF32, KvFormat::kF32);
  EXPECT_TRUE(ScoresOf(*model.context, std::vector{5}, 1).empty());
  EXPECT_TRUE(ScoresOf(*model.context, {}, 1).empty());
}

TEST(Scorer, InvalidIdsStridesAndStartsAreRefused) {
  TestModel model(TinyModelFolder("tied"), WeightFormat::kF32, KvFormat::kF32);
  const auto refused = [&](std::int32_t id, std::size_t stride, std::size_t start,
                           const std::string& why) {
    const auto scorer = Scorer::Begin(*model.context, {5, id}, stride, start);
    ASSERT_FALSE(scorer.ok());
    EXPECT_EQ(scorer.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(scorer.error().message, why);
  };
  refused(-1, 1, 0, "token id -1 at index 1, expected 0 to 159");
  refused(160, 1, 0, "token id 160 at index 1, expected 0 to 159");
  refused(6, 0, 0, "stride is 0, expected a whole number from 1 to 47");
  refused(6, 48, 0, "stride is 48, expected a whole number from 1 to 47");
  refused(6, 1, 3, "start is 3, expected a whole number from 0 to 2");
}

}  // namespace
}  // namespace gpt2::testing
