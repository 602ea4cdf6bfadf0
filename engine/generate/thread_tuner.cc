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
// The required gain of more threads. They take power and heat the device, and steps with the same
// number of threads vary by some percent.
constexpr double kLeastGain = 1.05;
constexpr double kNotMeasured = 1e9;  // seconds

}  // namespace

ThreadTuner::ThreadTuner(ThreadPool& pool) : pool_(&pool) {
  for (std::size_t threads = 1; threads < pool.most_threads(); threads *= 2) {
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
  candidate.seconds = std::min(candidate.seconds, run_step());
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

double MeasureStep(Context& context) {
  const auto start = std::chrono::steady_clock::now();
  // Whether the logits are finite does not matter here.
  static_cast<void>(context.Probe().Logits(0, 1));
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace gpt2
