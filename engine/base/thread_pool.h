// Threads that share one loop at a time. A result does not depend on which thread runs which chunk,
// because the engine splits rows between threads, never sums.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/function_ref.h"

namespace gpt2 {

// One owner thread makes all calls; the pool's own threads help. Idle threads spin briefly, because
// the next loop of a forward pass is microseconds away, and then sleep. The owner does the same
// while it waits for helpers.
//
// No loop depends on a helper. In a browser its script may be refused, and it starts only after the
// owner has returned to its event loop. So the threads that have started share a loop, and the
// owner completes it alone if there are none.
class ThreadPool {
 public:
  using Body = FunctionRef<void(std::size_t begin, std::size_t end)>;
  class Helper;
  // Starts a detached thread that runs `helper` once. Throws std::system_error or std::bad_alloc if
  // it cannot.
  using StartThread = void (*)(Helper helper);

  // `threads` includes the owner, so 1 starts no thread. If the system refuses some threads, the
  // pool is smaller.
  explicit ThreadPool(std::size_t threads, StartThread start_thread = StartSystemThread);
  // Waits for the helpers that have started, and ignores the others.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // The number of threads that take part, and the number that the system granted. Some of both may
  // still be starting.
  std::size_t threads() const { return active_.load(std::memory_order_relaxed); }
  std::size_t most_threads() const { return helpers_.size() + 1; }

  // Running threads, including the owner.
  std::size_t started_threads() const { return started_.load(std::memory_order_relaxed) + 1; }

  // Continues without the helpers that have not started. A helper that starts later ends at once.
  void DropUnstarted();

  // Lets `threads` threads, 1 to most_threads(), take part from the next loop on; the others sleep.
  void SetThreads(std::size_t threads);

  // How threads claim the items of a loop (Polychronopoulos, Kuck 1987: "Guided self-scheduling").
  enum class Chunks {
    // A third of a thread's share of what is left, but at least `grain` items. Large chunks come
    // first, and small ones let all threads finish together.
    kGuided,
    // A thread's first claim is most of the share that it took of recent loops of this kind; later
    // claims are as above. For loops of similar work whose neighbouring items are adjacent in
    // memory.
    kLongFirst,
  };

  // Calls body(begin, end) for disjoint ranges that cover [0, items), and returns when all are
  // done. A loop of at most `grain` items runs on the owner alone. No allocation, no lock.
  void ParallelFor(std::size_t items, std::size_t grain, Body body,
                   Chunks chunks = Chunks::kGuided);

 private:
  struct HelperState;
  struct RecentLoops;

  static void StartSystemThread(Helper helper);  // system_threads.cc, or worker_threads.cc
  void StartHelper(StartThread start_thread);
  void WakeHelpers();
  void WorkerLoop(std::size_t index);
  void RunOneChunk(std::uint64_t ticket, RecentLoops& recent);
  void SleepUntilFinished();
  std::uint64_t WaitForWork(std::size_t index);

  // A thread's share of recent loops with kLongFirst: an estimate of its speed compared with the
  // others.
  struct RecentLoops {
    float share = 0.0f;      // a mean over the loops before `loop`; later ones count more
    std::uint32_t loop = 0;  // the number of the latest loop in which this thread claimed a chunk
    std::size_t items = 0;   // items of that loop
    std::size_t items_taken = 0;  // those that this thread claimed
  };
  RecentLoops of_owner_;

  // The current loop. Everything that a helper reads before its first claim is atomic.
  const Body* body_ = nullptr;
  std::atomic<std::size_t> items_{0};
  std::atomic<std::size_t> grain_{1};
  std::atomic<Chunks> chunks_{Chunks::kGuided};
  std::atomic<std::size_t> active_{1};
  // High half: number of the loop. Low half: its unclaimed items. A claim is a compare-and-swap, so
  // that a late helper can never claim from the next loop by mistake.
  std::atomic<std::uint64_t> ticket_{0};
  std::atomic<std::size_t> unfinished_items_{0};
  std::atomic<std::uint32_t> sleepers_{0};  // helpers that a new loop must wake
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint32_t> wakes_{0};     // changes when sleeping helpers must check again
  std::atomic<bool> owner_sleeps_{false};   // whether it waits for the last items
  std::atomic<std::uint32_t> finishes_{0};  // changes when the sleeping owner must check again
  std::atomic<bool> has_trapped_{false};    // whether a helper has trapped
  std::atomic<std::size_t> started_{0};     // helpers that have started
  std::vector<std::unique_ptr<HelperState>> helpers_;
};

// The function that a helper's thread runs.
class ThreadPool::Helper {
 public:
  void operator()() const;
  // Call this after operator() has trapped. In a browser, a trap ends only this thread, and its
  // loop would never end. The owner then traps, too, instead of waiting for it.
  void Trapped() const;

 private:
  friend class ThreadPool;
  explicit Helper(HelperState* state) : state_(state) {}

  HelperState* state_;
};

// A helper's state, shared by its pool and its thread. The pool owns it until it drops the helper.
// From then on the thread owns it: it may start, and delete this, after the pool is gone.
struct ThreadPool::HelperState {
  enum Phase : std::uint32_t { kWaiting, kStarted, kEnded, kDropped };

  ThreadPool* pool;  // dangling once the helper is dropped
  std::atomic<std::uint32_t> phase{kWaiting};
};

}  // namespace gpt2
