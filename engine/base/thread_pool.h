// Threads that share one loop at a time. Which thread runs which chunk never changes a result:
// the engine splits rows between threads, never sums.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/function_ref.h"

namespace gpt2 {

// One owner thread calls everything; the pool's own threads help. Idle threads spin briefly,
// because the next loop of a forward pass is microseconds away, and then sleep. The owner does the
// same while it waits for helpers.
//
// No loop depends on a helper. In a browser its script may be refused, and it starts only after the
// owner has returned to its event loop. So the threads that have started share a loop, and the
// owner alone completes it if there are none.
class ThreadPool {
 public:
  using Body = FunctionRef<void(std::size_t begin, std::size_t end)>;
  class Helper;
  // Starts a thread that runs `helper`; throws std::system_error where it cannot.
  using StartThread = std::thread (*)(Helper helper);

  // `threads` counts the owner too: 1 starts no thread. Where the system refuses a thread, the pool
  // has fewer.
  explicit ThreadPool(std::size_t threads, StartThread start_thread = StartSystemThread);
  // Waits for the helpers that have started; those that have not are not waited for.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Threads that take part, and those that the system granted; in either some may still be
  // starting.
  std::size_t threads() const { return active_.load(std::memory_order_relaxed); }
  std::size_t most_threads() const { return helpers_.size() + 1; }

  // Threads that are running by now, the owner among them.
  std::size_t started_threads() const { return started_.load(std::memory_order_relaxed) + 1; }

  // Goes on without the helpers that have not started: should they come, they leave at once.
  void DropUnstarted();

  // Lets `threads`, 1 to most_threads(), take part from the next loop on; the others sleep.
  void SetThreads(std::size_t threads);

  // Calls body(begin, end) for disjoint ranges that cover [0, items), and returns when all are
  // done. A thread takes a third of its share of what is left, but at least `grain` items. So large
  // chunks come first, and small ones let all threads finish together (Polychronopoulos, Kuck 1987:
  // "Guided self-scheduling"). A loop of at most `grain` items runs on the owner alone. No
  // allocation; no lock unless a thread sleeps.
  void ParallelFor(std::size_t items, std::size_t grain, Body body);

 private:
  enum class Start { kWaiting, kStarted, kDropped };
  struct HelperThread {
    std::thread thread;
    std::shared_ptr<std::atomic<Start>>
        start;  // shared with the thread, which may outlive the pool
  };

  static std::thread StartSystemThread(Helper helper);
  void StartHelper(StartThread start_thread);
  void WorkerLoop(std::size_t index);
  void RunOneChunk(std::uint64_t ticket);
  void SleepUntilFinished();
  std::uint64_t WaitForWork(std::size_t index);

  // The loop under way. What a helper reads before it has claimed a chunk is atomic.
  const Body* body_ = nullptr;
  std::size_t items_ = 0;
  std::atomic<std::size_t> grain_{1};
  std::atomic<std::size_t> active_{1};
  // High half: number of the loop. Low half: its items that nobody has claimed yet. A claim is a
  // compare-and-swap, so that a helper that comes late can never claim from the next loop by
  // mistake.
  std::atomic<std::uint64_t> ticket_{0};
  std::atomic<std::size_t> unfinished_items_{0};
  std::atomic<std::uint32_t> sleepers_{0};  // that a new loop must wake
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<bool> owner_sleeps_{false};  // until no item is unfinished
  std::condition_variable finished_;
  std::atomic<std::size_t> started_{0};  // helpers
  std::vector<HelperThread> helpers_;
};

// What a helper's thread runs.
class ThreadPool::Helper {
 public:
  void operator()();

 private:
  friend class ThreadPool;
  Helper(ThreadPool* pool, std::shared_ptr<std::atomic<Start>> start)
      : pool_(pool), start_(std::move(start)) {}

  ThreadPool* pool_;  // dangling once start_ is kDropped
  std::shared_ptr<std::atomic<Start>> start_;
};

}  // namespace gpt2
