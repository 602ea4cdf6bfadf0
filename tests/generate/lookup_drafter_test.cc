#include "engine/generate/lookup_drafter.h"

#include <gtest/gtest.h>

#include <vector>

namespace gpt2 {
namespace {

std::vector<std::int32_t> Guess(LookupDrafter& drafter, const std::vector<std::int32_t>& text,
                                std::size_t most = LookupDrafter::kMostTokens) {
  const auto guess = drafter.Draft(text, most);
  return {guess.begin(), guess.end()};
}

using Ids = std::vector<std::int32_t>;

TEST(LookupDrafter, DraftsTheTokensAfterTheLatestAndLongestMatch) {
  LookupDrafter drafter;
  //                             |-----|                 |-----|
  EXPECT_EQ(Guess(drafter, {9, 1, 2, 3, 40, 41, 42, 43, 1, 2, 3}), Ids({40, 41, 42}));
  // The later of two matches wins, unless the earlier one is longer.
  EXPECT_EQ(Guess(drafter, {1, 2, 3, 50, 1, 2, 3, 60, 8, 1, 2, 3}), Ids({60, 8, 1}));
  EXPECT_EQ(Guess(drafter, {1, 2, 3, 1, 2, 3}, 3), Ids({1, 2, 3}));  // at the beginning
  EXPECT_EQ(Guess(drafter, {7, 1, 2, 3, 50, 51, 52, 1, 2, 3, 60, 7, 1, 2, 3}), Ids({50, 51, 52}));
}

TEST(LookupDrafter, DraftsNothingWithoutAMatchOrRoom) {
  LookupDrafter drafter;
  EXPECT_EQ(Guess(drafter, {1, 2, 3, 4, 5, 6}), Ids());
  EXPECT_EQ(Guess(drafter, {8, 2, 3, 4, 9, 2, 3}), Ids());  // two are too few
  EXPECT_EQ(Guess(drafter, {1, 2}), Ids());
  EXPECT_EQ(Guess(drafter, {}), Ids());
  EXPECT_EQ(Guess(drafter, {1, 2, 3, 4, 1, 2, 3}, 0), Ids());
  EXPECT_EQ(Guess(drafter, {1, 2, 3, 4, 1, 2, 3}, 1), Ids({4}));
}

TEST(LookupDrafter, ARepeatedPatternContinuesPastTheEnd) {
  LookupDrafter drafter;
  EXPECT_EQ(Guess(drafter, {5, 5, 5, 5, 5}), Ids({5, 5, 5}));
  EXPECT_EQ(Guess(drafter, {1, 2, 1, 2, 1, 2, 1}), Ids({2, 1, 2}));
}

// Calls until the drafter guesses again; each guess is wrong.
std::vector<std::size_t> PausesBetweenWrongGuesses(LookupDrafter& drafter, std::size_t guesses) {
  const Ids text = {1, 2, 3, 4, 1, 2, 3};
  std::vector<std::size_t> pauses;
  for (std::size_t pause = 0; pauses.size() < guesses; ++pause) {
    const std::size_t drafted = Guess(drafter, text).size();
    drafter.Update(drafted, 0);
    if (drafted == 0) continue;
    pauses.push_back(pause);
    pause = static_cast<std::size_t>(-1);
  }
  return pauses;
}

TEST(LookupDrafter, EachRejectedDraftDoublesThePauseUpToALimit) {
  LookupDrafter drafter;
  // At first one wrong guess causes no pause; after a pause each one does.
  EXPECT_EQ(PausesBetweenWrongGuesses(drafter, 10),
            (std::vector<std::size_t>{0, 0, 32, 64, 128, 256, 512, 1024, 1024, 1024}));
}

TEST(LookupDrafter, AcceptedDraftsEarnLimitedCreditAndResetThePause) {
  LookupDrafter drafter;
  PausesBetweenWrongGuesses(drafter, 4);  // the next pause takes 128 calls
  const Ids text = {1, 2, 3, 4, 1, 2, 3};
  for (int call = 0; call < 128; ++call) EXPECT_EQ(Guess(drafter, text), Ids());
  for (int right = 0; right < 3; ++right) {
    const std::size_t drafted = Guess(drafter, text).size();
    ASSERT_GT(drafted, 0u);
    drafter.Update(drafted, drafted);
  }
  // Three accepted drafts earn six steps of credit. The first rejected draft, of seven tokens,
  // costs 2.8 of them; later drafts, of three tokens, cost 1.2 each.
  EXPECT_EQ(PausesBetweenWrongGuesses(drafter, 6), (std::vector<std::size_t>{0, 0, 0, 0, 32, 64}));
}

TEST(LookupDrafter, APartlyAcceptedDraftResetsTheLength) {
  LookupDrafter drafter;
  const Ids text = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1, 2, 3};
  EXPECT_EQ(Guess(drafter, text), Ids({4, 5, 6}));
  drafter.Update(3, 3);
  EXPECT_EQ(Guess(drafter, text), Ids({4, 5, 6, 7, 8, 9, 10}));
  drafter.Update(7, 6);
  EXPECT_EQ(Guess(drafter, text), Ids({4, 5, 6}));
}

TEST(LookupDrafter, MatchesLongerThanEightTokensCountAsEight) {
  LookupDrafter drafter;
  Ids text;
  // Nine tokens match the first place and eight the second, which is taken because it is later.
  for (const int id : {0, 1, 2, 3, 4, 5, 6, 7, 8, 50, 99, 1, 2, 3, 4, 5, 6, 7, 8, 60}) {
    text.push_back(id);
  }
  for (int id = 0; id <= 8; ++id) text.push_back(id);
  EXPECT_EQ(Guess(drafter, text, 1), Ids({60}));
}

}  // namespace
}  // namespace gpt2
