#include "engine/generate/log_softmax.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/base/random.h"
#include "engine/base/thread_pool.h"
#include "tests/support/threads.h"

namespace gpt2::testing {
namespace {

// ln of the sum of exp(logit), in double.
double LogSum(const std::vector<float>& logits) {
  const double maximum = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - maximum);
  return maximum + std::log(sum);
}

class LogSoftmaxTest : public ::testing::Test {
 protected:
  void ExpectLogprobs(const std::vector<float>& logits) {
    const LogSoftmax logprob(compute, logits);
    const double log_sum = LogSum(logits);
    for (const float logit : {logits.front(), logits[logits.size() / 2], logits.back()}) {
      // Sums of 2048 floats in four lanes, each exp within 2e-7: 1e-5 is ample.
      EXPECT_NEAR(logprob(logit), static_cast<double>(logit) - log_sum, 1e-5);
    }
  }

  ThreadPool pool{kHasThreads ? 2 : 1};
  Compute compute{&BestKernels(), &pool};
};

TEST_F(LogSoftmaxTest, LogprobsMatchASumInDoubleForAnyNumberOfBlocks) {
  Random random(9);
  for (const std::size_t size : {1, 2, 2047, 2048, 2049, 4096, 50257, 65536, 70001}) {
    std::vector<float> logits(size);
    for (float& logit : logits) logit = static_cast<float>(random.NextUnit() * 6 - 3);
    ExpectLogprobs(logits);
  }
}

TEST_F(LogSoftmaxTest, BlocksWithDifferentMaximaAreAddedOnOneScale) {
  for (const float step : {-5.0f, 5.0f, 50.0f}) {  // exp(4 * 50) is no float
    std::vector<float> logits(5 * 2048);
    for (std::size_t i = 0; i < logits.size(); ++i) {
      const std::size_t block = i / 2048;
      logits[i] = step * static_cast<float>(block) + static_cast<float>(i % 7) * 0.1f;
    }
    ExpectLogprobs(logits);
  }
}

}  // namespace
}  // namespace gpt2::testing
