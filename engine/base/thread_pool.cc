#include "engine/base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "engine/base/sleep.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gpt2 {
namespace {

// How often a thread polls for work before it sleeps. This takes longer than the gaps within a
// forward pass (microseconds), but less than a time slice (milliseconds). Natively it measured 250
// to 500 microseconds, mostly spent in Pause. WebAssembly has no such instruction, so there it
// takes a small part of that.
constexpr int kSpins = 20000;

// The same for the owner while it waits for the last chunks, which end microseconds apart. The wait
// is longer only if a helper that holds a chunk is slow or waits for a core. Then the owner sleeps,
// because that helper may need its core.
constexpr int kOwnerSpins = 10000;

// With kLongFirst, a thread's first claim is this part of its recent share of a loop. The rest lets
// all threads finish together. With thirds throughout, matmuls of one token take 1.4 times as long.
// Small chunks begin at many places of memory, and a processor reads ahead at each only after some
// misses.
constexpr float kFirstPart = 15.0f / 16;

// After that, a thread takes one of this many parts of its share of the remaining items.
constexpr std::size_t kParts = 3;

constexpr std::uint64_t kItemsMask = 0xffffffffu;

void Pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

std::size_t ItemsLeft(std::uint64_t ticket) {
  return static_cast<std::size_t>(ticket & kItemsMask);
}

}  // namespace

ThreadPool::ThreadPool(std::size_t threads, StartThread start_thread) {
  const std::size_t wanted = std::max<std::size_t>(1, threads) - 1;
  helpers_.reserve(wanted);
#ifdef __cpp_exceptions
  try {
    while (helpers_.size() < wanted) StartHelper(start_thread);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // The system grants no more threads, or has no memory for them. Fewer threads compute the same,
    // only slower.
  }
#else
  // In a browser, a thread that cannot start looks like one that has not started yet.
  while (helpers_.size() < wanted) StartHelper(start_thread);
#endif
  SetThreads(most_threads());  // wakes the helpers that already sleep
}

void ThreadPool::StartHelper(StartThread start_thread) {
  auto state = std::make_unique<HelperState>(this);
  start_thread(Helper(state.get()));
  helpers_.push_back(std::move(state));  // room is reserved
}

ThreadPool::~ThreadPool() {
  DropUnstarted();
  stopping_ = true;
  WakeHelpers();
  for (const auto& helper : helpers_) {
    while (helper->phase == HelperState::kStarted) SleepWhile(helper->phase, HelperState::kStarted);
  }
}

void ThreadPool::DropUnstarted() {
  std::erase_if(helpers_, [](std::unique_ptr<HelperState>& helper) {
    std::uint32_t expected = HelperState::kWaiting;
    if (!helper->phase.compare_exchange_strong(expected, HelperState::kDropped)) return false;
    [[maybe_unused]] const HelperState* const state = helper.release();  // the thread owns it now
    return true;
  });
  SetThreads(std::min(threads(), most_threads()));
}

void ThreadPool::Helper::operator()() const {
  std::uint32_t expected = HelperState::kWaiting;
  if (!state_->phase.compare_exchange_strong(expected, HelperState::kStarted)) {
    const std::unique_ptr<HelperState> dropped(state_);
    return;
  }
  // Numbered in the order of their start, so that no number below started_ is missing.
  state_->pool->WorkerLoop(state_->pool->started_.fetch_add(1) + 1);
  state_->phase = HelperState::kEnded;  // from here on the pool may be destroyed
  Wake(state_->phase);                  // needs only the address
}

void ThreadPool::Helper::Trapped() const {
  ThreadPool& pool = *state_->pool;
  pool.has_trapped_ = true;
  ++pool.finishes_;
  Wake(pool.finishes_);
  state_->phase = HelperState::kEnded;
}

void ThreadPool::SetThreads(std::size_t threads) {
  assert(threads >= 1 && threads <= most_threads());
  active_ = threads;
  WakeHelpers();
}

void ThreadPool::WakeHelpers() {
  ++wakes_;
  Wake(wakes_);
}

void ThreadPool::ParallelFor(std::size_t items, std::size_t grain, Body body, Chunks chunks) {
  assert(grain > 0 && items <= kItemsMask);
  if (items == 0) return;
  if (threads() == 1 || items <= grain) {
    body(0, items);
    return;
  }
  body_ = &body;
  items_.store(items, std::memory_order_relaxed);
  grain_.store(grain, std::memory_order_relaxed);
  chunks_.store(chunks, std::memory_order_relaxed);
  unfinished_items_.store(items, std::memory_order_relaxed);
  const std::uint64_t loop = (ticket_.load(std::memory_order_relaxed) >> 32) + 1;
  // Sequentially consistent, as is the sleepers' count: either this thread sees a sleeper, or the
  // helper that goes to sleep sees the new ticket.
  ticket_.store(loop << 32 | items);
  if (sleepers_.load() != 0) WakeHelpers();
  while (true) {
    const std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
    if (ItemsLeft(ticket) == 0) break;
    RunOneChunk(ticket, of_owner_);
  }
  for (int spins = 0; unfinished_items_.load(std::memory_order_acquire) != 0; ++spins) {
    if (spins == kOwnerSpins) return SleepUntilFinished();
    Pause();
  }
}

// Either this thread sees the last chunk finished, or the one that finishes it sees this one
// asleep.
void ThreadPool::SleepUntilFinished() {
  owner_sleeps_ = true;
  while (true) {
    const std::uint32_t finishes = finishes_;
    if (unfinished_items_ == 0) break;
    if (has_trapped_) __builtin_trap();
    SleepWhile(finishes_, finishes);
  }
  owner_sleeps_ = false;
}

// Claims one chunk of the loop that `ticket` names and runs it, if no other thread was faster.
// The loop's members do not change while items are left, so what was read before a successful claim
// holds.
void ThreadPool::RunOneChunk(std::uint64_t ticket, RecentLoops& recent) {
  const auto loop = static_cast<std::uint32_t>(ticket >> 32);
  const std::size_t left = ItemsLeft(ticket);
  const std::size_t items = items_.load(std::memory_order_relaxed);
  const std::size_t active = active_.load(std::memory_order_relaxed);
  std::size_t size = std::max(left / (kParts * active), grain_.load(std::memory_order_relaxed));
  const bool is_long_first = chunks_.load(std::memory_order_relaxed) == Chunks::kLongFirst;
  // If a thread comes so late that others have begun with the rest, it must leave them some of it.
  const float all = static_cast<float>(items);
  const float first = kFirstPart * recent.share * all;
  const float rest = (1 - kFirstPart) * all;
  if (is_long_first && recent.loop != loop && first + rest / 2 <= static_cast<float>(left)) {
    size = std::max(size, static_cast<std::size_t>(first));
  }
  size = std::min(left, size);
  if (!ticket_.compare_exchange_strong(ticket, ticket - size, std::memory_order_acq_rel)) return;
  if (is_long_first) {
    if (recent.loop != loop) {
      if (recent.items != 0) {
        const float taken =
            static_cast<float>(recent.items_taken) / static_cast<float>(recent.items);
        recent.share += (taken - recent.share) / 4;
      }
      recent = {recent.share, loop, items, 0};
    }
    recent.items_taken += size;
  }
  const std::size_t begin = items - left;
  (*body_)(begin, begin + size);
  if (unfinished_items_.fetch_sub(size) == size && owner_sleeps_) {
    ++finishes_;
    Wake(finishes_);
  }
}

void ThreadPool::WorkerLoop(std::size_t index) {
  RecentLoops recent;
  while (!stopping_.load(std::memory_order_relaxed)) {
    const std::uint64_t ticket = WaitForWork(index);
    if (ItemsLeft(ticket) != 0) RunOneChunk(ticket, recent);
  }
}

// A ticket with items to claim; any once the pool stops or this thread no longer takes part.
std::uint64_t ThreadPool::WaitForWork(std::size_t index) {
  std::uint64_t ticket = 0;
  const auto takes_part = [&] { return index < active_.load(std::memory_order_relaxed); };
  for (int spins = 0; spins < kSpins; ++spins) {
    ticket = ticket_.load(std::memory_order_acquire);
    if (!takes_part())
      break;  // asked after the load: a ticket brings the count that it was issued for
    if (ItemsLeft(ticket) != 0) return ticket;
    Pause();
  }
  // What changes after wakes_ was read is seen here, or changes wakes_ once more.
  const auto sleep_until = [&](auto is_awake) {
    while (true) {
      const std::uint32_t wakes = wakes_;
      if (is_awake()) return;
      SleepWhile(wakes_, wakes);
    }
  };
  sleep_until([&] { return takes_part() || stopping_; });
  ++sleepers_;
  sleep_until([&] {
    ticket = ticket_;
    return ItemsLeft(ticket) != 0 || !takes_part() || stopping_;
  });
  --sleepers_;
  return takes_part() ? ticket : 0;
}

}  // namespace gpt2
