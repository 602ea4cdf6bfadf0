#include "engine/generate/options.h"

#include <gtest/gtest.h>

#include <cmath>

namespace gpt2 {
namespace {

TEST(Options, OnlyValuesInTheRangeAreSet) {
  for (const NumberOption& option : NumberOptions()) {
    GenerateOptions options;
    for (const double value : {option.least - 1, option.most * 2 + 1, std::nan("")}) {
      EXPECT_FALSE(SetNumber(option, value, options)) << option.name;
      EXPECT_EQ(option.get(options), option.get(GenerateOptions{})) << option.name;
    }
    for (const double value : {option.least, option.most}) {
      EXPECT_TRUE(SetNumber(option, value, options)) << option.name;
      EXPECT_EQ(option.get(options), value) << option.name;
    }
    if (!option.is_whole) continue;
    EXPECT_FALSE(SetNumber(option, option.least + 0.5, options)) << option.name;
  }
}

}  // namespace
}  // namespace gpt2
