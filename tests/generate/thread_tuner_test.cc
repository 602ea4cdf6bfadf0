#include "engine/generate/thread_tuner.h"

#include <gtest/gtest.h>

#include <map>

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

#if !defined(__EMSCRIPTEN__) || defined(__EMSCRIPTEN_PTHREADS__)  // where there are threads
// What is chosen on a machine whose steps take so long, in seconds by the number of threads.
std::size_t Tuned(const std::map<std::size_t, double>& seconds_with) {
  ThreadPool pool(7);
  int steps = 0;
  std::size_t threads_before = 0;
  std::map<std::size_t, int> runs;
  const std::size_t chosen = TuneThreads(pool, [&]() -> double {
    const std::size_t threads = pool.threads();
    // Until the code is compiled, and when threads are woken, anything may come out.
    if (++steps <= 4 || threads != threads_before) {
      EXPECT_TRUE(steps > 4 || threads == pool.most_threads());
      threads_before = threads;
      return 1e-6 * static_cast<double>(threads);
    }
    // The first time, something else is slowing the machine down.
    const bool is_slow = runs[threads]++ == 0;
    return seconds_with.at(threads) * (is_slow ? 100 : 1);
  });
  EXPECT_EQ(pool.threads(), chosen);
  EXPECT_EQ(runs.size(), 4u);
  return chosen;
}

TEST(TuneThreads, TakesTheFewestThatAreNotClearlySlowerThanTheFastest) {
  EXPECT_EQ(Tuned({{1, 8.0}, {2, 4.0}, {4, 2.0}, {7, 1.0}}), 7u);
  EXPECT_EQ(Tuned({{1, 8.0}, {2, 4.0}, {4, 2.0}, {7, 1.95}}), 4u);
  EXPECT_EQ(Tuned({{1, 8.0}, {2, 4.0}, {4, 3.9}, {7, 3.5}}), 7u);
  EXPECT_EQ(Tuned({{1, 8.0}, {2, 4.0}, {4, 5.0}, {7, 6.0}}), 2u);
  EXPECT_EQ(Tuned({{1, 1.0}, {2, 0.96}, {4, 0.97}, {7, 2.0}}), 1u);
}
#endif

}  // namespace
}  // namespace gpt2::testing
