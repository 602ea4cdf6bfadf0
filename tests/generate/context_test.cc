#include "engine/generate/context.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/base/random.h"
#include "tests/support/test_model.h"
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

TEST_F(LogSoftmaxTest, IsThatOfADoubleSumForAnyNumberOfBlocks) {
  Random random(9);
  for (const std::size_t size : {1, 2, 2047, 2048, 2049, 4096, 50257, 65536, 70001}) {
    std::vector<float> logits(size);
    for (float& logit : logits) logit = static_cast<float>(random.NextUnit() * 6 - 3);
    ExpectLogprobs(logits);
  }
}

TEST_F(LogSoftmaxTest, BlocksWhoseMaximaDifferAreAddedOnOneScale) {
  for (const float step : {-5.0f, 5.0f, 50.0f}) {  // exp(4 * 50) is no float
    std::vector<float> logits(5 * 2048);
    for (std::size_t i = 0; i < logits.size(); ++i) {
      logits[i] = step * static_cast<float>(i / 2048) + static_cast<float>(i % 7) * 0.1f;
    }
    ExpectLogprobs(logits);
  }
}

TEST(Context, ChecksIdsAgainstTheVocabulary) {
  const TestModel model(TinyModelFolder("tied"), WeightFormat::kF32, KvFormat::kF32);
  EXPECT_TRUE(model.context->CheckIds(std::vector<std::int32_t>{0, 159}).ok());
  const Status status = model.context->CheckIds(std::vector<std::int32_t>{7, 160});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "token id 160 at index 1, expected 0 to 159");
}

TEST(Context, CountsTheBytesOfEverySequence) {
  TestModel model(TinyModelFolder("tied"), WeightFormat::kF32, KvFormat::kF32);
  const std::size_t alone = model.context->bytes();
  const std::size_t scratch = Scratch::Create(model.context->config()).value().bytes();
  const std::size_t logits = Context::kLogitRows * 160 * sizeof(float);
  EXPECT_EQ(alone, scratch + logits + model.context->sequence().bytes());
  ASSERT_TRUE(model.context->SetSequences(3).ok());
  EXPECT_EQ(model.context->bytes(), alone + 2 * model.context->sequence().bytes());
  // Two layers of four heads, keys and values, 64 positions (whole blocks) of 16 floats.
  EXPECT_EQ(model.context->sequence().bytes(), 2u * 4 * 2 * 64 * 16 * sizeof(float));
  ASSERT_TRUE(model.context->SetSequences(1).ok());
  EXPECT_EQ(model.context->bytes(), alone);
}

}  // namespace
}  // namespace gpt2::testing
