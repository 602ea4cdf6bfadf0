#include "engine/generate/context.h"

#include <gtest/gtest.h>

#include "tests/support/test_model.h"

namespace gpt2::testing {
namespace {

TEST(Context, BytesIncludeEverySequence) {
  TestModel model(TinyModelFolder("tied"), WeightFormat::kF32, KvFormat::kF32);
  const std::size_t alone = model.context->bytes();
  const std::size_t scratch = Scratch::Create(model.context->config()).value().bytes();
  const std::size_t logits = Context::kLogitTokens * 160 * sizeof(float);
  EXPECT_EQ(alone, scratch + logits + model.context->sequence().bytes());
  ASSERT_TRUE(model.context->SetSequences(3).ok());
  EXPECT_EQ(model.context->bytes(), alone + 2 * model.context->sequence().bytes());
  ASSERT_TRUE(model.context->SetSequences(1).ok());
  EXPECT_EQ(model.context->bytes(), alone);
}

TEST(Context, ASequenceTakesWholeBlocksOfEachKeyHead) {
  const auto bytes = [](const char* name, KvFormat kv) {
    return TestModel(TinyModelFolder(name), WeightFormat::kF32, kv).context->sequence().bytes();
  };
  // Two layers of four heads, keys and values, 64 positions (whole blocks) of 16 values.
  EXPECT_EQ(bytes("tied", KvFormat::kF32), 2u * 4 * 2 * 64 * 16 * sizeof(float));
  EXPECT_EQ(bytes("tied", KvFormat::kQ8), 2u * 4 * 2 * 64 * (16 + sizeof(float)));
  // Three heads share keys and values, for 32 positions.
  EXPECT_EQ(bytes("bigcode-one-key-head", KvFormat::kF32), 2u * 1 * 2 * 32 * 16 * sizeof(float));
}

}  // namespace
}  // namespace gpt2::testing
