// Starts the pool's threads as system threads: natively, and in the tests of the WebAssembly
// builds.
#include <thread>

#include "engine/base/thread_pool.h"

namespace gpt2 {

void ThreadPool::StartSystemThread(Helper helper) {
  std::thread(helper).detach();
}

}  // namespace gpt2
