#include "engine/format/number_text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "engine/base/random.h"
#include "engine/format/json.h"

namespace gpt2 {
namespace {

TEST(NumberText, UsesTheShortestForm) {
  EXPECT_EQ(NumberText(0), "0");
  EXPECT_EQ(NumberText(-1), "-1");
  EXPECT_EQ(NumberText(16777216), "16777216");
  EXPECT_EQ(NumberText(9007199254740991), "9007199254740991");
  EXPECT_EQ(NumberText(0.01), "0.01");
  EXPECT_EQ(NumberText(2.5), "2.5");
  EXPECT_EQ(NumberText(1e300), "1e+300");
  EXPECT_EQ(NumberText(std::nan("")), "nan");
  EXPECT_EQ(NumberText(-std::numeric_limits<double>::infinity()), "-inf");
}

double Read(const std::string& text) {
  return ParseJson(text, "it").value()->get<double>();
}

TEST(NumberText, ReadsBackAsTheSameNumber) {
  Random random(7);
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t high = random.Next();
    const auto value = std::bit_cast<double>(high << 32 | random.Next());
    if (!std::isfinite(value)) continue;
    ASSERT_EQ(Read(NumberText(value)), value) << NumberText(value);
  }
}

// In WebAssembly, JavaScript parses numbers.
TEST(NumberText, ParsingRoundsToTheNearestNumber) {
  EXPECT_EQ(Read("0.1"), 0.1);
  EXPECT_EQ(Read("-0.0"), 0.0);
  EXPECT_TRUE(std::signbit(Read("-0.0")));
  EXPECT_EQ(Read("1e-5"), 1e-5);
  EXPECT_EQ(Read("9007199254740993.0"), 9007199254740992.0);  // half way: to even
  EXPECT_EQ(Read("9007199254740993.00000000000000000000000000000001"), 9007199254740994.0);
  EXPECT_EQ(Read("1.7976931348623157e308"), std::numeric_limits<double>::max());
  EXPECT_EQ(Read("2.2250738585072011e-308"), 2.2250738585072011e-308);
  EXPECT_EQ(Read("2.4703282292062328e-324"), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(Read("2.4703282292062327e-324"), 0);
}

}  // namespace
}  // namespace gpt2
