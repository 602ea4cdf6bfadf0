// Threads that sleep until a word in memory changes, like Linux's futex.
#pragma once

#include <atomic>
#include <cstdint>

namespace gpt2 {

// Sleeps while `word` equals `value`, until Wake is called; may also return earlier. The check and
// the sleep are one sequentially consistent step, so a change of `word` before a Wake is never
// missed.
inline void SleepWhile(std::atomic<std::uint32_t>& word, std::uint32_t value) {
#ifdef __wasm_atomics__  // libc++ would poll, and adds a table of all sleepers
  __builtin_wasm_memory_atomic_wait32(reinterpret_cast<int*>(&word), static_cast<int>(value),
                                      /*nanoseconds=*/-1);
#else
  word.wait(value);
#endif
}

// Wakes all threads that sleep at `word`. The word may already be freed: only its address is used.
inline void Wake(std::atomic<std::uint32_t>& word) {
#ifdef __wasm_atomics__
  __builtin_wasm_memory_atomic_notify(reinterpret_cast<int*>(&word), ~0u);
#else
  word.notify_all();
#endif
}

}  // namespace gpt2
