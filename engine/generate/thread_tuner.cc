#include "engine/generate/thread_tuner.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstddef>

#include "engine/base/function_ref.h"
#include "engine/base/thread_pool.h"
#include "engine/generate/context.h"

namespace gpt2 {
namespace {

// The best of this many steps counts, because a single one may be interrupted.
constexpr std::size_t kRounds = 4;
// Steps of one measurement, at most.
constexpr std::size_t kMostSteps = 100;
// The required gain of more threads. They take power and heat the device, and steps with the same
// number of threads vary by some percent.
constexpr double kLeastGain = 1.05;
constexpr double kNotMeasured = 1e9;  // seconds
// With a longer clock step, measurements that the clock can resolve would delay requests.
constexpr double kLongestClockStep = 1e-3;  // seconds

double Now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

}  // namespace

ThreadTuner::ThreadTuner(ThreadPool& pool, double clock_step)
    : pool_(&pool),
      least_seconds_(clock_step / (kLeastGain - 1)),
      is_measured_(clock_step <= kLongestClockStep) {
  for (std::size_t threads = 1; is_measured_ && threads < pool.most_threads(); threads *= 2) {
    candidates_.push_back({threads, kNotMeasured});
  }
  candidates_.push_back({pool.most_threads(), kNotMeasured});
  pool.SetThreads(pool.most_threads());
}

void ThreadTuner::Measure(FunctionRef<double()> run_step) {
  assert(!is_done());
  // In turn, so that other work on the machine slows all of them equally.
  Candidate& candidate = candidates_[measured_ % candidates_.size()];
  pool_->SetThreads(std::min(candidate.threads, pool_->most_threads()));
  run_step();  // wakes the threads
  double seconds = 0;
  std::size_t steps = 0;
  for (; steps == 0 || (seconds < least_seconds_ && steps < kMostSteps); ++steps) {
    seconds += run_step();
  }
  candidate.seconds = std::min(candidate.seconds, seconds / static_cast<double>(steps));
  pool_->SetThreads(pool_->most_threads());
  if (++measured_ == kRounds * candidates_.size()) Choose();
}

void ThreadTuner::Choose() {
  Candidate best = candidates_[0];
  for (const Candidate& candidate : candidates_) {
    if (candidate.seconds * kLeastGain < best.seconds) best = candidate;
  }
  candidates_.assign(1, best);
  pool_->SetThreads(std::min(best.threads, pool_->most_threads()));
}

double ClockStep() {
  constexpr int kMostReads = 20'000;  // a browser takes 1 ms for them
  const double start = Now();
  for (int i = 0; i < kMostReads; ++i) {
    if (const double now = Now(); now > start) return now - start;
  }
  return 1;
}

double MeasureStep(Context& context) {
  const double start = Now();
  // Whether the logits are finite does not matter here.
  static_cast<void>(context.Probe().Logits(0, 1));
  return Now() - start;
}

}  // namespace gpt2
