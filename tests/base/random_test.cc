#include "engine/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace gpt2 {
namespace {

// The numbers of Steele, Lea and Flood's own splitmix64.c (Vigna, prng.di.unimi.it).
TEST(Random, MatchesSplitMix64) {
  Random random(1234567);
  EXPECT_EQ(random.Next(), 6457827717110365317u);
  EXPECT_EQ(random.Next(), 3203168211198807973u);
  EXPECT_EQ(random.Next(), 9817491932198370423u);
  EXPECT_EQ(Random(0).Next(), 0xe220a8397b1dcdafu);
}

TEST(Random, SkipGivesTheSameStateAsDrawing) {
  Random drawn(11), skipped(11);
  for (int i = 0; i < 5; ++i) drawn.Next();
  skipped.Skip(5);
  EXPECT_EQ(skipped.Next(), drawn.Next());
  Random far(11);
  far.Skip(std::uint64_t{1} << 63);
  far.Skip((std::uint64_t{1} << 63) + 6);  // a full period, and six more
  EXPECT_EQ(far.Next(), drawn.Next());
}

TEST(Random, NextUnitUsesTheUpper53Bits) {
  EXPECT_EQ(Random(0).NextUnit(), static_cast<double>(0xe220a8397b1dcdafu >> 11) / 0x1p53);
  Random random(3);
  double least = 1, most = 0, sum = 0;
  for (int i = 0; i < 10000; ++i) {
    const double unit = random.NextUnit();
    least = std::min(least, unit);
    most = std::max(most, unit);
    sum += unit;
  }
  EXPECT_GE(least, 0);
  EXPECT_LT(least, 0.002);
  EXPECT_LT(most, 1);
  EXPECT_GT(most, 0.998);
  EXPECT_NEAR(sum / 10000, 0.5, 0.015);  // five standard deviations: 5 * sqrt(1 / 12 / 10000)
}

}  // namespace
}  // namespace gpt2
