#include "engine/generate/thread_tuner.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/base/function_ref.h"
#include "engine/base/thread_pool.h"
#include "engine/generate/context.h"
#include "engine/generate/sequence.h"

namespace gpt2 {
namespace {

// A browser compiles hot code twice; the second time within the first few steps.
constexpr int kWarmUpSteps = 4;
// The best of so many steps is what counts: one alone may be interrupted.
constexpr int kRounds = 4;
// How much faster more threads must be: they take power and make the device hot, and steps of the
// same number of threads differ by some percent.
constexpr double kLeastGain = 1.05;
constexpr double kNotMeasured = 1e9;  // seconds

double StepSeconds(Context& context) {
  constexpr std::array<std::int32_t, 1> kAnyToken = {0};
  Sequence& sequence = context.sequence();
  sequence.ClearCache();
  sequence.SetWindow(kAnyToken);
  const auto start = std::chrono::steady_clock::now();
  // Whether the logits are finite does not matter here.
  static_cast<void>(context.Prefill(sequence, 1).Logits(0, 1));
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

std::size_t TuneThreads(Context& context) {
  const std::size_t threads =
      TuneThreads(*context.compute().pool, [&] { return StepSeconds(context); });
  context.sequence().ClearCache();
  return threads;
}

std::size_t TuneThreads(ThreadPool& pool, FunctionRef<double()> run_step) {
  if (pool.most_threads() == 1) return 1;
  struct Candidate {
    std::size_t threads;
    double seconds;  // of the best step
  };
  std::vector<Candidate> candidates;
  for (std::size_t threads = 1; threads < pool.most_threads(); threads *= 2) {
    candidates.push_back({threads, kNotMeasured});
  }
  candidates.push_back({pool.most_threads(), kNotMeasured});
  pool.SetThreads(pool.most_threads());
  for (int step = 0; step < kWarmUpSteps; ++step) run_step();
  // In turn, so that whatever else the machine does slows all of them alike.
  for (int round = 0; round < kRounds; ++round) {
    for (Candidate& candidate : candidates) {
      pool.SetThreads(candidate.threads);
      run_step();  // wakes the threads
      candidate.seconds = std::min(candidate.seconds, run_step());
    }
  }
  Candidate best = candidates[0];
  for (const Candidate& candidate : candidates) {
    if (candidate.seconds * kLeastGain < best.seconds) best = candidate;
  }
  pool.SetThreads(best.threads);
  return best.threads;
}

}  // namespace gpt2
