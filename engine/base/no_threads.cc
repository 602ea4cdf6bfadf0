// thread_pool.h for WebAssembly without threads: the owner runs every loop. It takes two kilobytes
// less than a pool that never starts a helper.
#include <cassert>
#include <cstddef>

#include "engine/base/thread_pool.h"

namespace gpt2 {

ThreadPool::ThreadPool(std::size_t /*threads*/, StartThread /*start_thread*/) {}

ThreadPool::~ThreadPool() = default;

void ThreadPool::StartSystemThread(Helper /*helper*/) {}

void ThreadPool::DropUnstarted() {}

void ThreadPool::SetThreads([[maybe_unused]] std::size_t threads) {
  assert(threads == 1);
}

void ThreadPool::ParallelFor(std::size_t items, std::size_t /*grain*/, Body body,
                             Chunks /*chunks*/) {
  if (items > 0) body(0, items);
}

}  // namespace gpt2
