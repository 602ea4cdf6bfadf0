// Threads that share one loop at a time. Which thread runs which chunk never changes a result:
// the engine splits rows between threads, never sums.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/base/function_ref.h"

namespace gpt2 {

// One owner thread calls ParallelFor; the pool's own threads help. Idle threads spin briefly, as
// the next loop of a forward pass is microseconds away, then sleep.
class ThreadPool {
 public:
  using Body = FunctionRef<void(std::size_t begin, std::size_t end)>;

  // `threads` counts the owner too: 1 starts no thread.
  explicit ThreadPool(std::size_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  std::size_t threads() const { return workers_.size() + 1; }

  // Calls body(begin, end) for disjoint ranges that cover [0, items), and returns when all are
  // done. Ranges have at most `grain` items, unless there is but one thread. No allocation; no lock
  // unless a helper sleeps.
  void ParallelFor(std::size_t items, std::size_t grain, Body body);

 private:
  // Everything a helper may read between claiming a chunk and finishing it.
  struct Job {
    const Body* body = nullptr;
    std::size_t items = 0;
    std::size_t grain = 0;
  };

  void WorkerLoop();
  bool RunOneChunk(std::uint64_t ticket);
  std::uint64_t WaitForWork(std::uint64_t seen);

  Job job_;
  // High half: number of the job. Low half: its chunks that nobody has claimed yet. A claim is a
  // compare-and-swap, so that a helper that comes late can never claim from the next job by
  // mistake.
  std::atomic<std::uint64_t> ticket_{0};
  std::atomic<std::uint32_t> unfinished_chunks_{0};
  std::atomic<std::uint32_t> sleepers_{0};
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::thread> workers_;
};

}  // namespace gpt2
