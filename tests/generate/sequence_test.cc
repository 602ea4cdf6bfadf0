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

  static void Advance(Sequence& sequence, int tokens) {
    for (int i = 0; i < tokens; ++i) sequence.Advance();
  }

  Sequence sequence = Make();
};

TEST_F(SequenceTest, AdvanceReturnsTheNextPendingTokenAndItsPosition) {
  sequence.SetWindow(Ids{7, 8});
  const BatchToken first = sequence.Advance(), second = sequence.Advance();
  EXPECT_EQ(first.id, 7);
  EXPECT_EQ(first.position, 0u);
  EXPECT_EQ(second.id, 8);
  EXPECT_EQ(second.position, 1u);
  EXPECT_EQ(first.cache, second.cache);
  EXPECT_TRUE(sequence.is_current());
}

TEST_F(SequenceTest, TheCachedCommonPrefixIsKept) {
  sequence.SetWindow(Ids{1, 2, 3, 4});
  EXPECT_EQ(sequence.pending(), 4u);
  Advance(sequence, 3);
  EXPECT_FALSE(sequence.is_current());
  Advance(sequence, 1);
  EXPECT_TRUE(sequence.is_current());
  sequence.SetWindow(Ids{1, 2, 9, 4, 5});
  EXPECT_EQ(sequence.cached(), 2u);
  EXPECT_EQ(WindowOf(sequence), Ids({1, 2, 9, 4, 5}));
  Advance(sequence, 3);
  sequence.SetWindow(Ids{1, 2, 9});  // the last token runs again for its logits
  EXPECT_EQ(sequence.cached(), 2u);
  sequence.SetWindow(Ids{8});
  EXPECT_EQ(sequence.cached(), 0u);
}

TEST_F(SequenceTest, TokensThatHaveNotRunAreNotCached) {
  sequence.SetWindow(Ids{1, 2, 3, 4});
  Advance(sequence, 2);
  sequence.SetWindow(Ids{1, 2, 3, 4, 5});
  EXPECT_EQ(sequence.cached(), 2u);
  for (const auto& [kept, cached] : {std::pair(3u, 2u), {1u, 1u}, {0u, 0u}}) {
    sequence.ClearCache(kept);
    sequence.SetWindow(Ids{1, 2, 3, 4, 5});
    EXPECT_EQ(sequence.cached(), cached);
  }
}

TEST_F(SequenceTest, AFullWindowKeepsItsLastThreeQuarters) {
  Ids full(10);
  std::iota(full.begin(), full.end(), 0);
  sequence.SetWindow(std::span(full).first(9));
  Advance(sequence, 9);
  EXPECT_EQ(sequence.Push(9), 0u);
  EXPECT_EQ(sequence.cached(), 9u);
  EXPECT_EQ(sequence.Push(10), 3u);
  EXPECT_EQ(WindowOf(sequence), Ids({3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(sequence.cached(), 0u);  // positions are absolute, so all tokens run again
}

TEST_F(SequenceTest, ADraftJoinsTheWindowOnlyWhenItIsAccepted) {
  sequence.SetWindow(Ids{1, 2});
  Advance(sequence, 2);
  const BatchToken drafted = sequence.Drafted(1, 9);
  EXPECT_EQ(drafted.id, 9);
  EXPECT_EQ(drafted.position, 3u);
  EXPECT_EQ(WindowOf(sequence), Ids({1, 2}));
  sequence.Accept(Ids{8, 9});
  EXPECT_EQ(WindowOf(sequence), Ids({1, 2, 8, 9}));
  EXPECT_TRUE(sequence.is_current());
  sequence.Push(5);
  EXPECT_EQ(sequence.pending(), 1u);
}

TEST_F(SequenceTest, ACopyIsEqualAndIndependent) {
  sequence.SetWindow(Ids{1, 2, 3});
  Advance(sequence, 2);
  Sequence copy = Make();
  copy.CopyFrom(sequence);
  EXPECT_EQ(WindowOf(copy), Ids({1, 2, 3}));
  EXPECT_EQ(copy.cached(), 2u);
  copy.Push(4);
  EXPECT_EQ(WindowOf(sequence), Ids({1, 2, 3}));
}

}  // namespace
}  // namespace gpt2
