// Threads that sleep until a word in memory changes, as on Linux's futex.
#pragma once

#include <atomic>
#include <cstdint>

namespace gpt2 {

// Sleeps while `word` is `value`, until somebody wakes this thread; may also return for no reason.
// Sequentially consistent: a change that comes after the look at `word` is one that wakes.
inline void SleepWhile(std::atomic<std::uint32_t>& word, std::uint32_t value) {
#ifdef __wasm_atomics__  // libc++ would look again and again, and brings a table of all sleepers
  __builtin_wasm_memory_atomic_wait32(reinterpret_cast<int*>(&word), static_cast<int>(value),
                                      /*nanoseconds=*/-1);
#else
  word.wait(value);
#endif
}

// Wakes all that sleep at `word`, which may be gone: only its address is used.
inline void Wake(std::atomic<std::uint32_t>& word) {
#ifdef __wasm_atomics__
  __builtin_wasm_memory_atomic_notify(reinterpret_cast<int*>(&word), ~0u);
#else
  word.notify_all();
#endif
}

}  // namespace gpt2
