#include "engine/base/thread_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <vector>

#include "tests/support/threads.h"

namespace gpt2 {
namespace {

constexpr std::size_t kMostThreads = testing::kHasThreads ? 8 : 1;

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

TEST(ThreadPool, ALoopSeesTheWritesOfThePreviousLoop) {
  ThreadPool pool(kMostThreads);
  std::vector<int> values(256, 0);
  for (int round = 0; round < 2000; ++round) {
    pool.ParallelFor(values.size(), 8, [&](std::size_t begin, std::size_t end) {
      // Threads take turns with each item, so that this would be a race without ordering.
      for (std::size_t i = begin; i < end; ++i) values[i] += 1;
    });
  }
  for (const int value : values) EXPECT_EQ(value, 2000);
}

void ExpectThreadsRunBesideEachOther(ThreadPool& pool) {
  const std::size_t threads = pool.threads();
  std::atomic<std::size_t> arrived{0};
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  pool.ParallelFor(threads, 1, [&](std::size_t, std::size_t) {
    ++arrived;  // each waits for all others
    while (arrived < threads && std::chrono::steady_clock::now() < deadline) {
    }
  });
  EXPECT_LT(std::chrono::steady_clock::now(), deadline);
}

TEST(ThreadPool, HelpersRunInParallelWithTheCaller) {
  ThreadPool pool(std::min<std::size_t>(2, kMostThreads));
  ExpectThreadsRunBesideEachOther(pool);
}

#ifndef __EMSCRIPTEN__
// A helper that gives up spinning before the constructor returns must not sleep through the loops
// that follow.
TEST(ThreadPool, HelpersThatSleepBeforeTheConstructorReturnsStillTakePart) {
  ThreadPool pool(2, [](ThreadPool::Helper helper) {
    std::thread(helper).detach();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  });
  ExpectThreadsRunBesideEachOther(pool);
}
#endif

TEST(ThreadPool, SetThreadsLimitsTheThreadsThatTakePart) {
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

TEST(ThreadPool, SleepingHelpersWakeForTheNextLoop) {
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

#ifndef __EMSCRIPTEN__
// Helpers wait here until a test releases them.
std::atomic<int> g_free_helpers{0};

bool TakeFreeHelper() {
  int free = g_free_helpers;
  while (free > 0) {
    if (g_free_helpers.compare_exchange_weak(free, free - 1)) return true;
  }
  return false;
}

void StartWhenFree(ThreadPool::Helper helper) {
  std::thread([helper] {
    while (!TakeFreeHelper()) std::this_thread::yield();
    helper();
  }).detach();
}

void WaitForStarted(const ThreadPool& pool, std::size_t threads) {
  while (pool.started_threads() < threads) std::this_thread::yield();
}

std::size_t SumOfLoop(ThreadPool& pool) {
  std::atomic<std::size_t> sum{0};
  pool.ParallelFor(1000, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) sum += i;
  });
  return sum;
}

TEST(ThreadPool, EveryItemRunsBeforeAllHelpersHaveStarted) {
  g_free_helpers = 0;
  ThreadPool pool(4, StartWhenFree);
  for (std::size_t started = 1; started <= 4; ++started) {
    WaitForStarted(pool, started);
    EXPECT_EQ(pool.started_threads(), started);
    EXPECT_EQ(pool.most_threads(), 4u);
    EXPECT_EQ(SumOfLoop(pool), 499500u);
    ++g_free_helpers;
  }
}

TEST(ThreadPool, DroppedHelpersExitAsSoonAsTheyStart) {
  g_free_helpers = 1;
  ThreadPool pool(4, StartWhenFree);
  WaitForStarted(pool, 2);
  pool.DropUnstarted();
  EXPECT_EQ(pool.most_threads(), 2u);
  EXPECT_EQ(pool.threads(), 2u);
  g_free_helpers = 2;
  while (g_free_helpers > 0) std::this_thread::yield();
  EXPECT_EQ(pool.started_threads(), 2u);
  EXPECT_EQ(SumOfLoop(pool), 499500u);
}

TEST(ThreadPool, TheDestructorDoesNotWaitForUnstartedHelpers) {
  g_free_helpers = 0;
  {
    ThreadPool pool(3, StartWhenFree);
  }
  g_free_helpers = 2;  // they start after the pool is destroyed, and must not touch it
  while (g_free_helpers > 0) std::this_thread::yield();
}

TEST(ThreadPool, RefusedThreadsShrinkThePool) {
  static int granted;
  granted = 2;
  ThreadPool pool(8, [](ThreadPool::Helper helper) {
    if (granted-- == 0) throw std::system_error(EAGAIN, std::system_category());
    std::thread(helper).detach();
  });
  EXPECT_EQ(pool.most_threads(), 3u);
  EXPECT_EQ(pool.threads(), 3u);
  EXPECT_EQ(SumOfLoop(pool), 499500u);
}

// An exception simulates the trap that ends one thread of WebAssembly.
void RunALoopWhoseHelperTraps() {
  ThreadPool pool(2, [](ThreadPool::Helper helper) {
    std::thread([helper] {
      try {
        helper();
      } catch (int) {
        helper.Trapped();
      }
    }).detach();
  });
  const std::thread::id owner = std::this_thread::get_id();
  std::atomic<bool> has_trapped{false};
  pool.ParallelFor(2, 1, [&](std::size_t, std::size_t) {
    if (std::this_thread::get_id() != owner) {
      has_trapped = true;
      throw 0;
    }
    while (!has_trapped) std::this_thread::yield();
  });
}

TEST(ThreadPoolDeathTest, ATrapInAHelperEndsTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(RunALoopWhoseHelperTraps(), "");
}
#endif

}  // namespace
}  // namespace gpt2
