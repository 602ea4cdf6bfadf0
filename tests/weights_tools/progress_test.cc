#include "weights_tools/progress.h"

#include <gtest/gtest.h>

namespace gpt2::tools {
namespace {

TEST(ShownDuration, IsNoMoreExactThanAnEstimate) {
  EXPECT_EQ(ShownDuration(0), "0 s");
  EXPECT_EQ(ShownDuration(12.4), "12 s");
  EXPECT_EQ(ShownDuration(59.4), "59 s");
  EXPECT_EQ(ShownDuration(60), "1 min");
  EXPECT_EQ(ShownDuration(64), "1 min");
  EXPECT_EQ(ShownDuration(197), "3 min 20 s");
  EXPECT_EQ(ShownDuration(3596), "1 h 0 min");
  EXPECT_EQ(ShownDuration(3920), "1 h 5 min");
}

TEST(ProgressLine, TellsTheTimeLeftOnceItIsKnown) {
  EXPECT_EQ(ProgressLine("making", 0.4, 20), "making: 40 %, 30 s left");
  EXPECT_EQ(ProgressLine("making", 1, 20), "making: 100 %, 0 s left");
  EXPECT_EQ(ProgressLine("making", 0.01, 20), "making: 1 %");
  EXPECT_EQ(ProgressLine("making", 0.4, 1), "making: 40 %");
}

}  // namespace
}  // namespace gpt2::tools
