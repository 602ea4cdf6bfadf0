#include "engine/base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace gpt2 {
namespace {

#ifdef __EMSCRIPTEN__
constexpr std::size_t kMostThreads = 1;  // this build has none
#else
constexpr std::size_t kMostThreads = 8;
#endif

TEST(ThreadPool, EveryItemRunsExactlyOnce) {
  for (std::size_t threads = 1; threads <= kMostThreads; ++threads) {
    ThreadPool pool(threads);
    for (const std::size_t items : {0, 1, 2, 7, 64, 1000}) {
      for (const std::size_t grain : {1, 3, 2000}) {
        std::vector<std::atomic<int>> runs(items);
        pool.ParallelFor(items, grain, [&](std::size_t begin, std::size_t end) {
          EXPECT_LT(begin, end);
          for (std::size_t i = begin; i < end; ++i) ++runs[i];
        });
        for (const auto& count : runs) EXPECT_EQ(count, 1);
      }
    }
  }
}

TEST(ThreadPool, LoopsInARowSeeEachOthersWrites) {
  ThreadPool pool(kMostThreads);
  std::vector<int> values(256, 0);
  for (int round = 0; round < 2000; ++round) {
    pool.ParallelFor(values.size(), 8, [&](std::size_t begin, std::size_t end) {
      // Each item is another thread's from time to time: reading it would race without ordering.
      for (std::size_t i = begin; i < end; ++i) values[i] += 1;
    });
  }
  for (const int value : values) EXPECT_EQ(value, 2000);
}

TEST(ThreadPool, OnlyAsManyThreadsAsWereSetTakePart) {
  ThreadPool pool(kMostThreads);
  for (const std::size_t threads : {kMostThreads, std::size_t{1}, kMostThreads / 2 + 1}) {
    pool.SetThreads(threads);
    EXPECT_EQ(pool.threads(), threads);
    std::mutex mutex;
    std::set<std::thread::id> seen;
    std::atomic<std::size_t> sum{0};
    for (int round = 0; round < 50; ++round) {
      pool.ParallelFor(1000, 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) sum += i;
        const std::lock_guard lock(mutex);
        seen.insert(std::this_thread::get_id());
      });
    }
    EXPECT_EQ(sum, 50u * 499500u);
    EXPECT_LE(seen.size(), threads);
  }
  EXPECT_EQ(pool.most_threads(), kMostThreads);
}

TEST(ThreadPool, HelpersThatFellAsleepWakeForTheNextLoop) {
  ThreadPool pool(kMostThreads);
  for (int round = 0; round < 3; ++round) {
    // Long enough that every helper stops spinning; the result does not depend on whether it did.
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
    while (std::chrono::steady_clock::now() < until) {
    }
    std::atomic<std::size_t> sum{0};
    pool.ParallelFor(100, 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) sum += i;
    });
    EXPECT_EQ(sum, 4950u);
  }
}

}  // namespace
}  // namespace gpt2
