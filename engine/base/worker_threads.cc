// The pool's threads as workers of JavaScript, for the builds that a page loads. Each runs its own
// instance of the module in the memory that all share (web/src/model/wasm-module.ts). Emscripten's
// pthreads would add 10 kB gzipped for locks, joining, cancelling and calls between threads, which
// the pool does not use.
#include <emscripten/em_js.h>

#include <cstddef>
#include <cstdlib>
#include <new>

#include "engine/base/thread_pool.h"

// Creates a worker with `stack_bytes` at `stack` that calls gpt2_run_thread(helper), or
// gpt2_thread_trapped(helper) after a trap.
EM_JS(void, gpt2_start_thread, (void* stack, std::size_t stack_bytes, void* helper), {});

namespace gpt2 {
namespace {

// A thread's memory. It is never freed, because nothing shows when its worker has returned from
// C++.
struct alignas(16) ThreadMemory {
  std::byte
      stack[64 * 1024];  // kernels take some 35 kB at most; thread-local variables lie here, too
  ThreadPool::Helper helper;
};

const ThreadPool::Helper& HelperAt(const void* helper) {
  return *static_cast<const ThreadPool::Helper*>(helper);
}

}  // namespace

void ThreadPool::StartSystemThread(Helper helper) {
  void* const memory = std::aligned_alloc(alignof(ThreadMemory), sizeof(ThreadMemory));
  if (memory == nullptr) throw std::bad_alloc();
  auto* const thread = static_cast<ThreadMemory*>(memory);
  new (&thread->helper) Helper(helper);
  gpt2_start_thread(thread->stack, sizeof thread->stack, &thread->helper);
}

}  // namespace gpt2

extern "C" {

void gpt2_run_thread(const void* helper);
void gpt2_run_thread(const void* helper) {
  gpt2::HelperAt(helper)();
}

void gpt2_thread_trapped(const void* helper);
void gpt2_thread_trapped(const void* helper) {
  gpt2::HelperAt(helper).Trapped();
}

}  // extern "C"
