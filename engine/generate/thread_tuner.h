// Measures how many threads are fastest, which depends on the machine's memory rather than its
// cores.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/base/function_ref.h"
#include "engine/base/thread_pool.h"
#include "engine/generate/context.h"

namespace gpt2 {

// Measures decode steps with 1, 2, 4, ... and all threads of a pool, a few steps at a time. Between
// them, other work can run on all threads. At the end it sets the pool to the fewest threads that
// are not clearly slower than the fastest number. Not thread-safe.
class ThreadTuner {
 public:
  // The pool is borrowed. If `clock_step`, in seconds, is too long to compare steps, it is done at
  // once, and keeps all threads.
  ThreadTuner(ThreadPool& pool, double clock_step);

  bool is_done() const { return candidates_.size() == 1; }
  // Whether it compares threads at all.
  bool is_measured() const { return is_measured_; }
  // The number of threads in use: the fastest, once it is done.
  std::size_t threads() const { return pool_->threads(); }

  // Runs a few steps. `run_step` runs one, and returns its duration in seconds. Only until done.
  void Measure(FunctionRef<double()> run_step);

 private:
  struct Candidate {
    std::size_t threads;
    double seconds;  // the duration of a step in the fastest measurement
  };

  void Choose();

  ThreadPool* pool_;
  double least_seconds_;  // of a measurement
  bool is_measured_;
  std::vector<Candidate> candidates_;  // at the end, only the chosen one
  std::size_t measured_ = 0;           // number of steps
};

// The step of the clock in seconds, or 1 if it hardly moves. Browsers round their clocks: Firefox
// with resistFingerprinting to 16.7 or 100 ms.
double ClockStep();

// The duration in seconds of a decode step after the context's first sequence. The cache stays
// complete, except for the last token if the context is full.
double MeasureStep(Context& context);

}  // namespace gpt2
