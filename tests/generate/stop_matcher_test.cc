#include "engine/generate/stop_matcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
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

// All texts of the letters a and b with at most `length` letters.
std::vector<std::string> AllTexts(std::size_t length) {
  std::vector<std::string> texts = {""};
  for (std::size_t i = 0; texts[i].size() < length; ++i) {
    texts.push_back(texts[i] + "a");
    texts.push_back(texts[i] + "b");
  }
  return texts;
}

// The part of `text` before the stop string that is complete first, by trying all places.
std::string CutAt(const std::string& text, const std::vector<std::string>& stop) {
  for (std::size_t end = 1; end <= text.size(); ++end) {
    for (std::size_t begin = 0; begin < end; ++begin) {
      if (std::count(stop.begin(), stop.end(), text.substr(begin, end - begin)) > 0) {
        return text.substr(0, begin);
      }
    }
  }
  return text;
}

TEST(StopMatcher, TheStopStringThatIsCompleteFirstCountsHoweverTheTextIsCut) {
  std::vector<std::string> stops = AllTexts(3);
  stops.erase(stops.begin());  // the empty one
  for (const std::string& text : AllTexts(6)) {
    for (const std::string& one : stops) {
      for (const std::string& other : stops) {
        const std::string expected = CutAt(text, {one, other});
        for (std::size_t piece = 1; piece <= text.size(); ++piece) {
          StopMatcher matcher({one, other});
          std::string shown;
          for (std::size_t at = 0; at < text.size(); at += piece) {
            shown += matcher.Push(std::string_view(text).substr(at, piece));
          }
          ASSERT_EQ(shown + matcher.Flush(), expected) << text << ' ' << one << ' ' << other;
        }
      }
    }
  }
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
