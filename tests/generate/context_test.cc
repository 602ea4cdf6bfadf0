#include "engine/generate/context.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/test_model.h"

namespace gpt2::testing {
namespace {

std::vector<float> RowOf(const Pass& pass, std::size_t row) {
  const auto logits = pass.Logits(row, 1).value().Row(0);
  return {logits.begin(), logits.end()};
}

TEST(Context, ADraftIsVerifiedInOnePassAndLeavesTheWindowUnchanged) {
  const std::string folder = TinyModelFolder("tied");
  TestModel model(folder, WeightFormat::kQ8, KvFormat::kQ8);
  const std::vector<std::int32_t> text = {5, 17, 40, 3, 99};
  const auto expected = model.Logits(text, 1);
  Sequence& sequence = model.context->sequence();
  sequence.ClearCache();
  sequence.SetWindow(std::span(text).first(2));
  model.context->Prefill(sequence, 1);
  const Pass pass = model.context->Verify(sequence, std::span(text).subspan(2));
  ASSERT_EQ(pass.tokens(), 4u);
  for (std::size_t row = 0; row < 4; ++row) EXPECT_EQ(RowOf(pass, row), expected[1 + row]);
  EXPECT_EQ(sequence.window().size(), 2u);
  EXPECT_TRUE(sequence.is_current());
  // Accepted tokens stay in the cache; the others are overwritten.
  sequence.Accept(std::span(text).subspan(2, 1));
  sequence.Push(3);
  EXPECT_EQ(RowOf(model.context->Verify(sequence, {}), 0), expected[3]);
}

TEST(Context, BytesIncludeEverySequence) {
  TestModel model(TinyModelFolder("tied"), WeightFormat::kF32, KvFormat::kF32);
  const std::size_t alone = model.context->bytes();
  const std::size_t scratch = Scratch::Create(model.context->config()).value().bytes();
  const std::size_t logits = Context::kLogitTokens * 160 * sizeof(float);
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
