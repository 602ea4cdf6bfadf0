#include "engine/generate/stop_matcher.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gpt2 {
namespace {

TEST(StopMatcher, NoPartOfAStopStringIsReturnedEvenIfItSpansPieces) {
  const std::string text = "one two END three";
  for (std::size_t piece = 1; piece < text.size(); ++piece) {
    StopMatcher matcher({"END", "zzz"});
    std::string shown;
    for (std::size_t at = 0; at < text.size() && !matcher.stopped(); at += piece) {
      shown += matcher.Push(std::string_view(text).substr(at, piece));
      EXPECT_TRUE(std::string_view("one two ").starts_with(shown)) << shown;
    }
    EXPECT_TRUE(matcher.stopped());
    EXPECT_EQ(shown + matcher.Flush(), "one two ");
  }
}

TEST(StopMatcher, APartialMatchIsReturnedOnceItFails) {
  StopMatcher matcher({"aab"});
  EXPECT_EQ(matcher.Push("xa"), "x");
  EXPECT_EQ(matcher.Push("a"), "");
  EXPECT_EQ(matcher.Push("a"), "a");  // "aa" may still become "aab"
  EXPECT_EQ(matcher.Push("c"), "aac");
  EXPECT_EQ(matcher.Push("a"), "");
  EXPECT_EQ(matcher.Flush(), "a");
  EXPECT_FALSE(matcher.stopped());
}

TEST(StopMatcher, TheEarliestMatchWins) {
  StopMatcher matcher({"cd", "b"});
  EXPECT_EQ(matcher.Push("abcd"), "a");
  EXPECT_TRUE(matcher.stopped());
}

TEST(StopMatcher, TheLongestPartialMatchIsHeldBack) {
  const std::vector<std::string> stop = {"bX", "abY"};
  for (const auto& strings : {std::vector{stop[0], stop[1]}, std::vector{stop[1], stop[0]}}) {
    StopMatcher matcher(strings);
    EXPECT_EQ(matcher.Push("zab"), "z");
    EXPECT_EQ(matcher.Push("z"), "abz");
    EXPECT_EQ(matcher.Push("b"), "");
    EXPECT_EQ(matcher.Push("X more"), "");
    EXPECT_TRUE(matcher.stopped());
    EXPECT_EQ(matcher.Flush(), "");
  }
}

}  // namespace
}  // namespace gpt2
