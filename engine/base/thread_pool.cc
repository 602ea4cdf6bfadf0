#include "engine/base/thread_pool.h"

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gpt2 {
namespace {

// About 50 microseconds: longer than the gaps inside a forward pass, shorter than a time slice.
constexpr int kSpins = 20000;

constexpr std::uint64_t kChunkMask = 0xffffffffu;

void Pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

bool HasChunks(std::uint64_t ticket) {
  return (ticket & kChunkMask) != 0;
}

}  // namespace

ThreadPool::ThreadPool(std::size_t threads) {
  for (std::size_t i = 1; i < threads; ++i) workers_.emplace_back([this] { WorkerLoop(); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::ParallelFor(std::size_t items, std::size_t grain, Body body) {
  if (items == 0) return;
  if (workers_.empty() || items <= grain) {
    body(0, items);
    return;
  }
  const std::size_t chunks = (items + grain - 1) / grain;
  job_ = {&body, items, grain};
  unfinished_chunks_.store(static_cast<std::uint32_t>(chunks), std::memory_order_relaxed);
  const std::uint64_t job_number = (ticket_.load(std::memory_order_relaxed) >> 32) + 1;
  // Sequentially consistent, as is the sleepers' count: either this thread sees a sleeper, or the
  // helper that goes to sleep sees the new ticket.
  ticket_.store(job_number << 32 | chunks);
  if (sleepers_.load() != 0) {
    const std::lock_guard lock(mutex_);
    wake_.notify_all();
  }
  while (true) {
    const std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
    if (!HasChunks(ticket)) break;
    RunOneChunk(ticket);
  }
  for (int spins = 0; unfinished_chunks_.load(std::memory_order_acquire) != 0; ++spins) {
    if (spins < kSpins) {
      Pause();
    } else {
      std::this_thread::yield();  // more threads than cores: let the one that holds a chunk run
    }
  }
}

// Claims one chunk of the job that `ticket` names and runs it; false if another thread was faster.
bool ThreadPool::RunOneChunk(std::uint64_t ticket) {
  if (!ticket_.compare_exchange_strong(ticket, ticket - 1, std::memory_order_acq_rel)) return false;
  const std::size_t chunk = static_cast<std::size_t>(ticket & kChunkMask) - 1;
  const std::size_t begin = chunk * job_.grain;
  (*job_.body)(begin, std::min(begin + job_.grain, job_.items));
  unfinished_chunks_.fetch_sub(1, std::memory_order_acq_rel);
  return true;
}

void ThreadPool::WorkerLoop() {
  std::uint64_t ticket = 0;
  while (!stopping_.load(std::memory_order_relaxed)) {
    ticket = WaitForWork(ticket);
    if (HasChunks(ticket)) RunOneChunk(ticket);
  }
}

// The current ticket once it has chunks to claim; any ticket when the pool stops.
std::uint64_t ThreadPool::WaitForWork(std::uint64_t seen) {
  for (int spins = 0; spins < kSpins; ++spins) {
    seen = ticket_.load(std::memory_order_acquire);
    if (HasChunks(seen)) return seen;
    Pause();
  }
  std::unique_lock lock(mutex_);
  sleepers_.fetch_add(1);
  wake_.wait(lock, [&] {
    seen = ticket_.load();
    return HasChunks(seen) || stopping_.load();
  });
  sleepers_.fetch_sub(1);
  return seen;
}

}  // namespace gpt2
