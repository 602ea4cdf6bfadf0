// Tests how threads wait for one another: on cores of different speed, on fewer cores than threads,
// and without work.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstddef>
#include <ctime>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/base/thread_pool.h"

namespace gpt2 {
namespace {

#ifndef __EMSCRIPTEN__  // in WebAssembly, a helper may start only after the loop that waits for it

// A loop on cores of different speed, in virtual time. A thread leaves its chunk when no other
// thread leaves an earlier one. So chunks are claimed in the order of such cores, on any machine.
class VirtualCores {
 public:
  // The core of each thread. A thread stays there in all loops.
  using CoreOf = std::map<std::thread::id, std::size_t>;

  // `slowness`: the time that an item takes on each core. There are more items than cores, and as
  // many threads.
  VirtualCores(std::size_t items, const std::vector<double>& slowness, CoreOf& core_of)
      : items_(items),
        slowness_(slowness),
        core_of_(core_of),
        ready_(slowness.size()),
        is_busy_(slowness.size()) {}

  void Run(std::size_t begin, std::size_t end) {
    std::unique_lock lock(mutex_);
    const std::size_t core =
        core_of_.try_emplace(std::this_thread::get_id(), core_of_.size()).first->second;
    claimed_ += end - begin;
    ready_[core] += static_cast<double>(end - begin) * slowness_[core];
    is_busy_[core] = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return IsNext(core); });
    is_busy_[core] = false;
    changed_.notify_all();
  }

  double TimeTaken() const { return *std::max_element(ready_.begin(), ready_.end()); }

 private:
  // Returns whether this core finishes first, once all cores have a chunk or no items are left.
  bool IsNext(std::size_t core) const {
    for (std::size_t other = 0; other < ready_.size(); ++other) {
      if (!is_busy_[other] && claimed_ < items_) return false;
      if (is_busy_[other] && ready_[other] < ready_[core]) return false;
    }
    return true;
  }

  std::size_t items_;
  std::vector<double> slowness_;
  CoreOf& core_of_;
  std::vector<double> ready_;  // when its latest chunk is done
  std::vector<bool> is_busy_;
  std::size_t claimed_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
};

using enum ThreadPool::Chunks;

// The loops of a decode step of GPT-2 124M in q8 with a context of 900. Each has how often it runs,
// its items, its grain and the time of an item. A tile of 768 inputs takes the time 1.
struct Loop {
  double times;
  std::size_t items, grain;
  double time;
  ThreadPool::Chunks chunks;
};
constexpr Loop kStep[] = {
    {12, 288, 5, 1, kLongFirst},  // QKV
    {12, 12, 1, 18, kGuided},     // attention
    {12, 96, 5, 1, kLongFirst},   // its projection
    {12, 384, 5, 1, kLongFirst},  // the MLP's first matrix
    {12, 96, 1, 4, kLongFirst},   // its second
    {1, 6283, 5, 1, kLongFirst},  // logits
};

// The time of a step, relative to perfectly divisible work, once the pool has seen such loops
// thirty times: a step has sixty loops.
double TimeBeyondIdeal(const std::vector<double>& slowness) {
  double speed = 0;
  for (const double slow : slowness) speed += 1 / slow;
  ThreadPool pool(slowness.size());
  EXPECT_EQ(pool.most_threads(), slowness.size());  // a missing thread would block the others
  if (pool.most_threads() != slowness.size()) return NAN;
  VirtualCores::CoreOf core_of;
  double taken = 0, ideal = 0;
  for (int step = 0; step < 6; ++step) {
    taken = ideal = 0;
    for (const Loop& loop : kStep) {
      VirtualCores cores(loop.items, slowness, core_of);
      const auto run = [&](std::size_t begin, std::size_t end) { cores.Run(begin, end); };
      pool.ParallelFor(loop.items, loop.grain, run, loop.chunks);
      taken += loop.times * loop.time * cores.TimeTaken();
      ideal += loop.times * loop.time * static_cast<double>(loop.items) / speed;
    }
  }
  return taken / ideal;
}

TEST(ThreadPoolWaits, SlowerCoresTakeFewerItemsSoThatAllFinishTogether) {
  EXPECT_LE(TimeBeyondIdeal({1, 1}), 1.02);
  EXPECT_LE(TimeBeyondIdeal({1, 2}), 1.15);
  EXPECT_LE(TimeBeyondIdeal({2, 1}), 1.15);
  EXPECT_LE(TimeBeyondIdeal({1, 4}), 1.15);
  EXPECT_LE(TimeBeyondIdeal({4, 1}), 1.15);
  EXPECT_LE(TimeBeyondIdeal({1, 1, 2, 2}), 1.15);
  EXPECT_LE(TimeBeyondIdeal({2, 2, 1, 1}), 1.15);
  EXPECT_LE(TimeBeyondIdeal({2, 1, 2, 1, 2, 1}), 1.15);
}

// Whether the process stops using processor time. Fails only after 20 s, whatever else runs.
bool BecomesIdle() {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (std::chrono::steady_clock::now() < deadline) {
    const std::clock_t before = std::clock();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (std::clock() - before < CLOCKS_PER_SEC / 100) return true;
  }
  return false;
}

TEST(ThreadPoolWaits, IdleThreadsUseNoProcessorTime) {
  ThreadPool pool(8);
  ASSERT_EQ(pool.most_threads(), 8u);
  pool.ParallelFor(64, 1, [](std::size_t, std::size_t) {});
  EXPECT_TRUE(BecomesIdle());
}

// The owner sleeps while it waits, because the helper may need its core.
TEST(ThreadPoolWaits, TheOwnerSleepsWhileAHelperComputes) {
  ThreadPool pool(2);
  ASSERT_EQ(pool.most_threads(), 2u);
  const std::thread::id owner = std::this_thread::get_id();
  std::atomic<bool> helper_has_a_chunk{false};
  bool becomes_idle = false;
  pool.ParallelFor(2, 1, [&](std::size_t, std::size_t) {
    if (std::this_thread::get_id() == owner) {
      while (!helper_has_a_chunk) std::this_thread::yield();
      return;
    }
    helper_has_a_chunk = true;
    becomes_idle = BecomesIdle();
  });
  EXPECT_TRUE(becomes_idle);
}

#endif

}  // namespace
}  // namespace gpt2
