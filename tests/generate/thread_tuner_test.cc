#include "engine/generate/thread_tuner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <utility>

#include "tests/support/test_model.h"
#include "tests/support/threads.h"

namespace gpt2::testing {
namespace {

TEST(ThreadTuner, SetsThePoolToItsChoiceAndChangesNoLogit) {
  constexpr std::size_t kThreads = kHasThreads ? 6 : 1;
  const std::string folder = TinyModelFolder("tied");
  const Golden golden(folder);
  TestModel model(folder, WeightFormat::kQ8, KvFormat::kQ8, kThreads);
  const auto before = model.Logits(golden.ids, 7);
  ThreadTuner tuner(*model.pool, ClockStep());
  while (!tuner.is_done()) {
    EXPECT_EQ(model.pool->threads(), kThreads);  // for work between two measurements
    tuner.Measure([&] { return MeasureStep(*model.context); });
  }
  EXPECT_GE(tuner.threads(), 1u);
  EXPECT_LE(tuner.threads(), kThreads);
  EXPECT_EQ(model.pool->threads(), tuner.threads());
  EXPECT_EQ(model.pool->most_threads(), kThreads);
  EXPECT_EQ(model.Logits(golden.ids, 7), before);
}

// A measurement does not change the text that follows it.
TEST(ThreadTuner, MeasuringKeepsTheCache) {
  const std::string folder = TinyModelFolder("tied");
  TestModel model(folder, WeightFormat::kQ8, KvFormat::kQ8);
  Sequence& sequence = model.context->sequence();
  const std::size_t capacity = model.context->config().n_positions;
  std::vector<std::int32_t> text(capacity);
  for (std::size_t i = 0; i < capacity; ++i) text[i] = static_cast<std::int32_t>(i * 7 % 150);
  const auto expected = model.Logits(text, 5);
  sequence.ClearCache();
  for (const std::size_t size : {std::size_t{1}, std::size_t{9}, capacity - 1, capacity}) {
    sequence.SetWindow(std::span(text).first(size));
    while (!sequence.is_current()) model.context->Prefill(sequence, 5);
    EXPECT_GT(MeasureStep(*model.context), 0.0);
    EXPECT_EQ(sequence.cached(), std::min(size, capacity - 1));
    EXPECT_EQ(sequence.window().size(), size);
    sequence.SetWindow(std::span(text).first(size));
    EXPECT_EQ(sequence.pending(), 1u);
    const Pass pass = model.context->Prefill(sequence, 1);
    const auto logits = pass.Logits(0, 1).value().Row(0);
    EXPECT_EQ(std::vector<float>(logits.begin(), logits.end()), expected[size - 1]);
  }
}

#if !defined(__EMSCRIPTEN__) || defined(__EMSCRIPTEN_PTHREADS__)  // where there are threads
// The chosen number on a machine with these step times, in seconds by the number of threads.
std::size_t Tuned(const std::map<std::size_t, double>& seconds_with, double clock_step = 1e-9) {
  ThreadPool pool(7);
  ThreadTuner tuner(pool, clock_step);
  double clock = 0;
  std::map<std::size_t, int> runs;
  while (!tuner.is_done()) {
    bool wakes = true;
    tuner.Measure([&]() -> double {
      const std::size_t threads = pool.threads();
      // While threads wake up, a measurement may give any time.
      if (std::exchange(wakes, false)) return 1e-6 * static_cast<double>(threads);
      // The first measurement runs while another program slows the machine down.
      const bool is_slow = runs[threads]++ == 0;
      const double before = std::floor(clock / clock_step);
      clock += seconds_with.at(threads) * (is_slow ? 100 : 1);
      return (std::floor(clock / clock_step) - before) * clock_step;
    });
  }
  EXPECT_EQ(pool.threads(), tuner.threads());
  EXPECT_EQ(runs.size(), 4u);
  return tuner.threads();
}

TEST(ThreadTuner, AClockThatIsTooCoarseKeepsAllThreads) {
  ThreadPool pool(7);
  for (const double clock_step : {0.0167, 0.1, 1.0}) {
    const ThreadTuner tuner(pool, clock_step);
    EXPECT_TRUE(tuner.is_done() && !tuner.is_measured());
    EXPECT_EQ(tuner.threads(), 7u);
  }
}

TEST(ThreadTuner, ChoosesTheFewestThreadsThatAreNotClearlySlowerThanTheFastest) {
  EXPECT_EQ(Tuned({{1, 8.0}, {2, 4.0}, {4, 2.0}, {7, 1.0}}), 7u);
  EXPECT_EQ(Tuned({{1, 8.0}, {2, 4.0}, {4, 2.0}, {7, 1.95}}), 4u);
  // Steps that are shorter than the clock's.
  EXPECT_EQ(Tuned({{1, 9e-4}, {2, 5e-4}, {4, 3e-4}, {7, 9e-4}}, 1e-3), 4u);
  EXPECT_EQ(Tuned({{1, 8.0}, {2, 4.0}, {4, 3.9}, {7, 3.5}}), 7u);
  EXPECT_EQ(Tuned({{1, 8.0}, {2, 4.0}, {4, 5.0}, {7, 6.0}}), 2u);
  EXPECT_EQ(Tuned({{1, 1.0}, {2, 0.96}, {4, 0.97}, {7, 2.0}}), 1u);
}
#endif

}  // namespace
}  // namespace gpt2::testing
