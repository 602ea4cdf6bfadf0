#include "engine/generate/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

namespace gpt2 {
namespace {

// Every filter is off, so that a test turns on only the one under test.
GenerateOptions Plain() {
  return {.temperature = 1, .top_k = 0, .top_p = 1};
}

std::set<std::int32_t> Reachable(const GenerateOptions& options, const std::vector<float>& logits) {
  Sampler sampler(options, logits.size());
  std::set<std::int32_t> ids;
  for (int i = 0; i < 2000; ++i) ids.insert(sampler.Sample(logits));
  return ids;
}

// Probabilities 0.5, 0.25, 0.15, 0.1 in a mixed order.
const std::vector<float> kLogits = {std::log(0.15f), std::log(0.5f), std::log(0.1f),
                                    std::log(0.25f)};

TEST(Sampler, EachFilterKeepsItsTokens) {
  struct Row {
    const char* what;
    std::set<std::int32_t> kept;
    GenerateOptions options;
    std::vector<float> logits = kLogits;
  };
  const Row rows[] = {
      {"greedy", {1}, {.temperature = 0, .top_k = 0, .top_p = 1}},
      {"greedy, the first of two", {1}, {.temperature = 0, .top_k = 0, .top_p = 1}, {1, 2, 2, 0}},
      {"top-k", {1, 3}, {.temperature = 1, .top_k = 2, .top_p = 1}},
      {"top-p: 0.5 + 0.25", {1, 3}, {.temperature = 1, .top_k = 0, .top_p = 0.7}},
      {"top-p: 0.5 + 0.25 + 0.15", {0, 1, 3}, {.temperature = 1, .top_k = 0, .top_p = 0.8}},
      {"top-p keeps one", {1}, {.temperature = 1, .top_k = 0, .top_p = 0}},
      // 0.5, 0.25 and 0.15 become 0.556, 0.278 and 0.167: the first two are enough.
      {"top-p within top-k", {1, 3}, {.temperature = 1, .top_k = 3, .top_p = 0.82}},
      {"min-p: 0.145", {0, 1, 3}, {.temperature = 1, .top_k = 0, .top_p = 1, .min_p = 0.29}},
      // The temperature makes 0.725, 0.181, 0.065 and 0.029 of the probabilities.
      {"top-p at 0.5", {1}, {.temperature = 0.5, .top_k = 0, .top_p = 0.7}},
      {"min-p at 0.5", {1, 3}, {.temperature = 0.5, .top_k = 0, .top_p = 1, .min_p = 0.2}},
      {"typical-p, all equal",
       {0, 1, 2, 3},
       {.temperature = 1, .top_k = 0, .top_p = 1, .typical_p = 0.1},
       {1, 1, 1, 1}},
      // 0.667 and 0.333: the entropy is 0.637 nats, and 0.405 is closer than 1.099.
      {"typical-p within top-k",
       {1},
       {.temperature = 1, .top_k = 2, .top_p = 1, .typical_p = 0.5}}};
  for (const Row& row : rows) EXPECT_EQ(Reachable(row.options, row.logits), row.kept) << row.what;
}

TEST(Sampler, FrequenciesMatchTheProbabilitiesAtEachTemperature) {
  for (const double temperature : {0.5, 1.0, 2.0}) {
    GenerateOptions options = Plain();
    options.temperature = temperature;
    Sampler sampler(options, kLogits.size());
    std::vector<int> counts(4);
    for (int i = 0; i < 40000; ++i) ++counts[static_cast<std::size_t>(sampler.Sample(kLogits))];
    std::vector<double> weights;
    for (const float logit : kLogits) weights.push_back(std::exp(logit / temperature));
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    // Five standard deviations of a binomial: sqrt(0.25 / 40000) * 5.
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_NEAR(counts[i] / 40000.0, weights[i] / total, 0.0125);
  }
}

TEST(Sampler, RepetitionPenaltyAppliesOnlyToSeenTokens) {
  GenerateOptions options = Plain();
  options.temperature = 0;
  options.repetition_penalty = 2;
  Sampler sampler(options, 3);
  EXPECT_EQ(sampler.Sample({{3.0f, 2.0f, -1.0f}}), 0);
  sampler.Accept(0);
  EXPECT_EQ(sampler.Sample({{3.0f, 2.0f, -1.0f}}), 1);  // 3 / 2 < 2
  sampler.Accept(1);
  EXPECT_EQ(sampler.Sample({{-1.0f, -1.0f, -1.5f}}), 2);  // -1 * 2 < -1.5
}

TEST(Sampler, PenaltiesCountOnlyWhatIsWritten) {
  GenerateOptions options = Plain();
  options.temperature = 0;
  options.frequency_penalty = 0.5;
  options.presence_penalty = 1;
  Sampler sampler(options, 3);
  const std::vector<float> logits = {3.0f, 1.75f, 0.0f};
  sampler.Accept(0);  // of the prompt
  EXPECT_EQ(sampler.Sample(logits), 0);
  const auto write = [&](std::int32_t id) {
    sampler.Accept(id);
    sampler.Count(id);
  };
  for (const std::int32_t expected : {0, 1, 0, 0, 0, 1, 0}) {
    EXPECT_EQ(sampler.Sample(logits), expected);
    write(expected);
  }
}

TEST(Sampler, NegativePenaltiesFavourWhatIsWritten) {
  GenerateOptions options = Plain();
  options.temperature = 0;
  options.frequency_penalty = -2;
  Sampler sampler(options, 2);
  sampler.Accept(1);
  sampler.Count(1);
  EXPECT_EQ(sampler.Sample({{1.0f, 0.0f}}), 1);
}

TEST(Sampler, TheTextDoesNotEndBeforeTheMinimum) {
  GenerateOptions options = Plain();
  options.min_new_tokens = 1;
  options.eos_token_ids = {0, 2, 99};  // the last one is not in the vocabulary
  options.no_repeat_ngram_size = 1;
  Sampler sampler(options, 3);
  sampler.Accept(1);
  EXPECT_EQ(sampler.Sample({{5.0f, 0.0f, 9.0f}}), 1);  // it may repeat, because no other is left
  sampler.Count(1);
  EXPECT_EQ(sampler.Sample({{-1e9f, 0.0f, 9.0f}}), 2);
  options.ignore_eos = true;
  EXPECT_EQ(Sampler(options, 3).Sample({{-1e9f, -1e9f, 9.0f}}), 2);
}

// A tenth of the largest float: a penalty of 0.01 makes a hundred times as much of it.
TEST(Sampler, RepetitionPenaltyKeepsTheOrderOfHugeLogits) {
  for (const double temperature : {0.0, 1.0}) {
    GenerateOptions rewarded = Plain();
    rewarded.temperature = temperature;
    rewarded.repetition_penalty = 0.01;
    GenerateOptions penalized = rewarded;
    penalized.repetition_penalty = 100;
    const std::vector<float> logits = {3.3e37f, -3.4e37f, 3.4e37f, -3.3e37f};
    const std::vector<float> negative = {-3.4e37f, -3.5e37f, -3.3e37f, -3.4e37f};
    Sampler up(rewarded, 4), down(penalized, 4);
    for (std::int32_t id = 0; id < 4; ++id) {
      up.Accept(id);
      down.Accept(id);
    }
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(up.Sample(logits), 2);
      EXPECT_EQ(down.Sample(negative), 2);
    }
  }
}

TEST(Sampler, OverflowingLogitsKeepTheirProbabilities) {
  constexpr float kHuge = 0x1p126f;
  GenerateOptions options = Plain();
  options.repetition_penalty = 100;  // makes the first logit too large for a float
  options.temperature = 0x1p120;     // by which the others differ
  Sampler sampler(options, 3);
  sampler.Accept(0);
  std::vector<int> counts(3);
  for (int i = 0; i < 40000; ++i)
    ++counts[static_cast<std::size_t>(sampler.Sample({{-kHuge, kHuge, kHuge - 0x1p120f}}))];
  EXPECT_NEAR(counts[2] / static_cast<double>(counts[1]), std::exp(-1), 0.03);
}

// The tokens that transformers' TypicalLogitsWarper keeps, from its definition: a whole sort.
std::set<std::int32_t> TypicalTokens(const std::vector<float>& logits, double mass) {
  std::vector<double> probabilities;
  for (const float logit : logits) probabilities.push_back(std::exp(static_cast<double>(logit)));
  const double total = std::accumulate(probabilities.begin(), probabilities.end(), 0.0);
  double entropy = 0;
  for (double& each : probabilities) {
    each /= total;
    entropy -= each * std::log(each);
  }
  std::vector<std::int32_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  const auto probability = [&](std::int32_t id) {
    return probabilities[static_cast<std::size_t>(id)];
  };
  std::sort(ids.begin(), ids.end(), [&](std::int32_t a, std::int32_t b) {
    return std::abs(-std::log(probability(a)) - entropy) <
           std::abs(-std::log(probability(b)) - entropy);
  });
  std::set<std::int32_t> kept;
  double sum = 0;
  for (const std::int32_t id : ids) {
    kept.insert(id);
    sum += probability(id);
    if (sum >= mass) break;
  }
  return kept;
}

TEST(Sampler, TypicalPKeepsTheSameTokensAsTransformers) {
  Random random(11);
  for (int round = 0; round < 20; ++round) {
    std::vector<float> logits(12);
    for (float& logit : logits) logit = static_cast<float>(random.NextUnit() * 3);
    for (const double mass : {0.0, 0.2, 0.5, 0.9}) {
      GenerateOptions options = Plain();
      options.typical_p = mass;
      EXPECT_EQ(Reachable(options, logits), TypicalTokens(logits, mass)) << round << " " << mass;
    }
  }
}

// So that no option is accepted and ignored.
TEST(Sampler, EachOptionOfTheHubChangesTheText) {
  const auto text_with = [](const GenerateOptions& options) {
    Sampler sampler(options, kLogits.size());
    std::vector<std::int32_t> text;
    for (int i = 0; i < 100; ++i) {
      text.push_back(sampler.Sample(kLogits));
      sampler.Accept(text.back());
      sampler.Count(text.back());
    }
    return text;
  };
  const auto plain = text_with(Plain());
  for (const NumberOption& option : NumberOptions()) {
    if (option.hub_name.empty() || option.name == "maxNewTokens") continue;
    bool changes = false;
    for (const double value : {option.least, option.least + 1, option.most}) {
      GenerateOptions options = Plain();
      options.eos_token_ids = {1};
      changes |= SetNumber(option, value, options) && text_with(options) != plain;
    }
    EXPECT_TRUE(changes) << option.name;
  }
}

TEST(Sampler, NoNgramIsWrittenTwice) {
  for (const std::size_t size : {1, 2, 3}) {
    GenerateOptions options = Plain();
    options.no_repeat_ngram_size = size;
    constexpr std::size_t kVocabulary = 5;
    Sampler sampler(options, kVocabulary);
    const std::vector<float> logits(kVocabulary, 0.0f);
    std::vector<std::int32_t> text;
    std::set<std::vector<std::int32_t>> seen;
    // So many tokens are always possible without a repeated n-gram.
    const std::size_t length = size == 1 ? kVocabulary : kVocabulary + size;
    for (std::size_t i = 0; i < length; ++i) {
      text.push_back(sampler.Sample(logits));
      sampler.Accept(text.back());
      if (text.size() < size) continue;
      const std::vector<std::int32_t> ngram(text.end() - static_cast<std::ptrdiff_t>(size),
                                            text.end());
      EXPECT_TRUE(seen.insert(ngram).second) << size << " " << i;
    }
  }
}

TEST(Sampler, TheOnlyPossibleTokenMayRepeat) {
  GenerateOptions options = Plain();
  options.no_repeat_ngram_size = 1;
  Sampler sampler(options, 2);
  constexpr float kRuledOut = -std::numeric_limits<float>::infinity();
  sampler.Accept(0);
  EXPECT_EQ(sampler.Sample({{1.0f, 0.0f}}), 1);
  EXPECT_EQ(sampler.Sample({{1.0f, kRuledOut}}), 0);
}

TEST(Sampler, NonFiniteLogitsGiveAValidToken) {
  for (const double temperature : {0.0, 1.0, 1e-30}) {
    GenerateOptions options = Plain();
    options.temperature = temperature;
    options.top_p = 0.9;
    options.typical_p = 0.5;
    options.no_repeat_ngram_size = 2;
    Sampler sampler(options, 3);
    const std::int32_t id = sampler.Sample({{NAN, INFINITY, -INFINITY}});
    EXPECT_TRUE(id >= 0 && id < 3);
  }
}

TEST(SelectTop, MatchesTheBeginningOfAFullSort) {
  Random random(5);
  std::vector<float> logits(1000);
  for (float& logit : logits) logit = static_cast<float>(random.Next() % 50);  // many ties
  std::vector<Candidate> all;
  for (std::size_t i = 0; i < logits.size(); ++i)
    all.push_back({static_cast<std::int32_t>(i), logits[i]});
  std::sort(all.begin(), all.end(), RanksBefore);
  std::vector<Candidate> best;
  for (const std::size_t count : {0, 1, 40, 999, 1000, 5000}) {
    SelectTop(logits, count, best);
    ASSERT_EQ(best.size(), std::min<std::size_t>(count, 1000));
    for (std::size_t i = 0; i < best.size(); ++i) EXPECT_EQ(best[i].id, all[i].id);
  }
}

TEST(Sampler, ChoosesAllowedIndicesInProportionToTheirWeights) {
  const std::vector<double> logprobs = {-1, -2, 0, -3};
  const auto is_allowed = [](std::size_t i) { return i != 2; };
  std::array<double, 4> counts{};
  constexpr std::uint64_t kSeeds = 20000;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Sampler sampler({.temperature = 2, .top_k = 1, .seed = seed}, 1);  // filters have no effect
    ++counts[sampler.Choose(logprobs, is_allowed)];
  }
  const double total = std::exp(-0.5) + std::exp(-1) + std::exp(-1.5);
  EXPECT_NEAR(counts[0] / kSeeds, std::exp(-0.5) / total, 0.01);
  EXPECT_NEAR(counts[1] / kSeeds, std::exp(-1.0) / total, 0.01);
  EXPECT_EQ(counts[2], 0);
  EXPECT_EQ(Sampler({.temperature = 0}, 1).Choose(logprobs, is_allowed), 0u);
}

}  // namespace
}  // namespace gpt2
