#include "engine/kernels/scalar_math.h"

#include <gtest/gtest.h>

#include <cmath>

namespace gpt2 {
namespace {

TEST(ScalarMath, ExpIsWithinItsStatedError) {
  for (double x = -87.0; x < 88.0; x += 0.00137) {
    const double expected = std::exp(static_cast<double>(static_cast<float>(x)));
    const double found = Exp(static_cast<float>(x));
    ASSERT_LT(std::fabs(found - expected) / expected, 2e-7) << x;
  }
}

TEST(ScalarMath, ExpSaturatesAndAcceptsAnyFloat) {
  EXPECT_EQ(Exp(0.0f), 1.0f);
  EXPECT_LT(Exp(-1e30f), 1.3e-38f);
  EXPECT_LT(Exp(-INFINITY), 1.3e-38f);
  EXPECT_TRUE(std::isfinite(Exp(1e30f)));
  EXPECT_TRUE(std::isfinite(Exp(NAN)));
}

TEST(ScalarMath, ErfIsWithinItsStatedError) {
  for (double x = -6.0; x < 6.0; x += 0.0011) {
    ASSERT_LT(std::fabs(Erf(static_cast<float>(x)) - std::erf(x)), 5e-7) << x;
  }
}

TEST(ScalarMath, LogIsExactToDoublePrecision) {
  for (double x = 1e-30; x < 1e30; x *= 1.37) {
    ASSERT_LT(std::fabs(Log(x) - std::log(x)), 1e-15 * std::max(1.0, std::fabs(std::log(x)))) << x;
  }
}

}  // namespace
}  // namespace gpt2
