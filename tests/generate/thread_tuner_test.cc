#include "engine/generate/thread_tuner.h"

#include <gtest/gtest.h>

#include "tests/support/test_model.h"
#include "tests/support/threads.h"

namespace gpt2::testing {
namespace {

TEST(TuneThreads, LeavesThePoolAtWhatItReturnsAndChangesNoLogit) {
  constexpr std::size_t kThreads = kHasThreads ? 6 : 1;
  const std::string folder = TinyModelFolder("tied");
  const Golden golden(folder);
  TestModel model(folder, WeightFormat::kQ8, KvFormat::kQ8, kThreads);
  const auto before = model.Logits(golden.ids, 7);
  const std::size_t threads = TuneThreads(*model.context);
  EXPECT_GE(threads, 1u);
  EXPECT_LE(threads, kThreads);
  EXPECT_EQ(model.pool->threads(), threads);
  EXPECT_EQ(model.pool->most_threads(), kThreads);
  EXPECT_EQ(model.Logits(golden.ids, 7), before);
}

}  // namespace
}  // namespace gpt2::testing
