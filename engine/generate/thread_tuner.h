// How many threads pay is a matter of the machine's memory, not of its cores: it is measured.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/base/function_ref.h"
#include "engine/base/thread_pool.h"
#include "engine/generate/context.h"

namespace gpt2 {

// Measures decode steps with 1, 2, 4, ... and all of a pool's threads, a few steps at a time. Other
// work can run between them, with all threads. At the end it leaves the pool at the fewest threads
// that are not clearly slower than the fastest. Not thread-safe.
class ThreadTuner {
 public:
  // The pool is borrowed.
  explicit ThreadTuner(ThreadPool& pool);

  bool is_done() const { return candidates_.size() == 1; }
  // That are used by now: those that are fastest, once it is done.
  std::size_t threads() const { return pool_->threads(); }

  // Takes a few steps. `run_step` runs one, and returns the seconds that it took. Only until done.
  void Measure(FunctionRef<double()> run_step);

 private:
  struct Candidate {
    std::size_t threads;
    double seconds;  // of the best step
  };

  void Choose();

  ThreadPool* pool_;
  std::vector<Candidate> candidates_;  // in the end, the one that was chosen
  std::size_t measured_ = 0;           // so many times
};

// The seconds of a decode step behind the context's first sequence. The cache keeps everything,
// except for the last token if the context is full.
double MeasureStep(Context& context);

}  // namespace gpt2
