// How many threads pay is a matter of the machine's memory, not of its cores: it is measured.
#pragma once

#include <cstddef>

#include "engine/base/function_ref.h"
#include "engine/base/thread_pool.h"
#include "engine/generate/context.h"

namespace gpt2 {

// Runs a few decode steps with 1, 2, 4, ... and all of the pool's threads, and leaves the pool at
// the fewest that are not clearly slower than the fastest. Returns them. Forgets what the context's
// first sequence has cached.
std::size_t TuneThreads(Context& context);

// The same for any step: `run_step` runs one, and returns the seconds that it took.
std::size_t TuneThreads(ThreadPool& pool, FunctionRef<double()> run_step);

}  // namespace gpt2
