#include "engine/generate/options.h"

#include <gtest/gtest.h>

#include <map>

namespace gpt2 {
namespace {

struct Expected {
  bool is_whole;
  double least, most, fallback;
};

TEST(Options, RangesAndDefaultsMatchTheDocumentation) {
  constexpr double kTokens = 16777216;  // 2^24
  const std::map<std::string_view, Expected> expected = {
      {"maxNewTokens", {true, 0, kTokens, 64}},
      {"temperature", {false, 0, 100, 0.8}},
      {"topK", {true, 0, kTokens, 40}},
      {"topP", {false, 0, 1, 0.95}},
      {"minP", {false, 0, 1, 0}},
      {"typicalP", {false, 0, 1, 1}},
      {"noRepeatNgramSize", {true, 0, kTokens, 0}},
      {"repetitionPenalty", {false, 0.01, 100, 1}},
      {"n", {true, 1, 16, 1}},
      {"seed", {true, 0, 9007199254740991, 0}},
      {"logprobs", {true, 0, 100, 0}}};
  EXPECT_EQ(NumberOptions().size(), expected.size());
  for (const NumberOption& option : NumberOptions()) {
    ASSERT_TRUE(expected.contains(option.name)) << option.name;
    const Expected& e = expected.at(option.name);
    EXPECT_EQ(option.is_whole, e.is_whole) << option.name;
    EXPECT_EQ(option.least, e.least) << option.name;
    EXPECT_EQ(option.most, e.most) << option.name;
    EXPECT_EQ(option.get(GenerateOptions{}), e.fallback) << option.name;
  }
}

TEST(Options, BothEndsOfARangeAreAccepted) {
  for (const NumberOption& option : NumberOptions()) {
    GenerateOptions options;
    for (const double value : {option.least, option.most}) {
      EXPECT_TRUE(SetNumber(option, value, options)) << option.name;
      EXPECT_EQ(option.get(options), value) << option.name;
    }
    if (!option.is_whole) continue;
    EXPECT_FALSE(SetNumber(option, option.least + 0.5, options)) << option.name;
  }
}

TEST(Options, EachFlagSetsItsField) {
  GenerateOptions on, off;
  for (const FlagOption& flag : FlagOptions()) {
    flag.set(on, true);
    flag.set(off, false);
  }
  const std::map<std::string_view, bool> expected = {{"lookup", true},
                                                     {"heal", false},
                                                     {"ignoreEos", false},
                                                     {"strict", false},
                                                     {"allowSpecial", false}};
  for (const FlagOption& flag : FlagOptions()) EXPECT_EQ(flag.is_on, expected.at(flag.name));
  EXPECT_TRUE(on.lookup && on.heal && on.ignore_eos && on.strict && on.allow_special);
  EXPECT_FALSE(off.lookup || off.heal || off.ignore_eos || off.strict || off.allow_special);
}

TEST(Options, AnEmptyStopStringIsRefused) {
  GenerateOptions options;
  EXPECT_FALSE(SetStop({"a", ""}, options).ok());
  EXPECT_TRUE(SetStop({"a", "b"}, options).ok());
  EXPECT_EQ(options.stop, (std::vector<std::string>{"a", "b"}));
}

}  // namespace
}  // namespace gpt2
