#include "engine/generate/sequence.h"

#include <gtest/gtest.h>

#include <numeric>

namespace gpt2 {
namespace {

using Ids = std::vector<std::int32_t>;

class SequenceTest : public ::testing::Test {
 protected:
  static Sequence Make() {
    Config config;
    config.n_embd = 4;
    config.n_head = 1;
    config.n_layer = 1;
    config.n_positions = 10;
    return std::move(Sequence::Create(config, KvFormat::kF32).value());
  }
  static Ids WindowOf(const Sequence& sequence) {
    return {sequence.window().begin(), sequence.window().end()};
  }

  Sequence sequence = Make();
};

TEST_F(SequenceTest, KeepsWhatTheCacheHoldsOfACommonBeginning) {
  sequence.SetWindow(Ids{1, 2, 3, 4});
  EXPECT_EQ(sequence.pending(), 4u);
  sequence.Advance(3);
  EXPECT_FALSE(sequence.is_current());
  sequence.Advance(1);
  EXPECT_TRUE(sequence.is_current());
  sequence.SetWindow(Ids{1, 2, 9, 4, 5});
  EXPECT_EQ(sequence.cached(), 2u);
  EXPECT_EQ(WindowOf(sequence), Ids({1, 2, 9, 4, 5}));
  sequence.Advance(3);
  sequence.SetWindow(Ids{1, 2, 9});  // the last one's logits are wanted
  EXPECT_EQ(sequence.cached(), 2u);
  sequence.SetWindow(Ids{8});
  EXPECT_EQ(sequence.cached(), 0u);
}

TEST_F(SequenceTest, WhatWasNotRunIsNotKept) {
  sequence.SetWindow(Ids{1, 2, 3, 4});
  sequence.Advance(2);
  sequence.SetWindow(Ids{1, 2, 3, 4, 5});
  EXPECT_EQ(sequence.cached(), 2u);
  sequence.Forget();
  sequence.SetWindow(Ids{1, 2, 3, 4, 5});
  EXPECT_EQ(sequence.cached(), 0u);
}

TEST_F(SequenceTest, AFullWindowKeepsItsLastThreeQuarters) {
  Ids full(10);
  std::iota(full.begin(), full.end(), 0);
  sequence.SetWindow(std::span(full).first(9));
  sequence.Advance(9);
  EXPECT_EQ(sequence.Push(9), 0u);
  EXPECT_EQ(sequence.cached(), 9u);
  EXPECT_EQ(sequence.Push(10), 3u);
  EXPECT_EQ(WindowOf(sequence), Ids({3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(sequence.cached(), 0u);  // positions are absolute: all is run again
}

TEST_F(SequenceTest, TruncateKeepsTheFirstTokens) {
  sequence.SetWindow(Ids{1, 2, 3, 4});
  sequence.Advance(4);
  sequence.Truncate(3);
  EXPECT_EQ(WindowOf(sequence), Ids({1, 2, 3}));
  EXPECT_TRUE(sequence.is_current());
  sequence.Push(5);
  EXPECT_EQ(sequence.pending(), 1u);
}

TEST_F(SequenceTest, ACopyIsTheSameAndItsOwn) {
  sequence.SetWindow(Ids{1, 2, 3});
  sequence.Advance(2);
  Sequence copy = Make();
  copy.CopyFrom(sequence);
  EXPECT_EQ(WindowOf(copy), Ids({1, 2, 3}));
  EXPECT_EQ(copy.cached(), 2u);
  copy.Push(4);
  EXPECT_EQ(WindowOf(sequence), Ids({1, 2, 3}));
}

}  // namespace
}  // namespace gpt2
