// The floor of a decode step: how fast this browser reads bytes with wasm SIMD and these threads. A
// sum of everything is the least that can be done with each byte.
#include <emscripten/emscripten.h>
#include <wasm_simd128.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

#include "engine/base/thread_pool.h"

namespace {

std::uint32_t SumBytes(const std::uint8_t* bytes, std::size_t size) {
  // Four sums hide the latency of the addition.
  v128_t sums[4] = {wasm_i32x4_splat(0), wasm_i32x4_splat(0), wasm_i32x4_splat(0),
                    wasm_i32x4_splat(0)};
  for (std::size_t i = 0; i + 64 <= size; i += 64) {
    for (std::size_t part = 0; part < 4; ++part) {
      sums[part] = wasm_i32x4_add(sums[part], wasm_v128_load(bytes + i + 16 * part));
    }
  }
  const v128_t sum =
      wasm_i32x4_add(wasm_i32x4_add(sums[0], sums[1]), wasm_i32x4_add(sums[2], sums[3]));
  return static_cast<std::uint32_t>(
      wasm_i32x4_extract_lane(sum, 0) + wasm_i32x4_extract_lane(sum, 1) +
      wasm_i32x4_extract_lane(sum, 2) + wasm_i32x4_extract_lane(sum, 3));
}

struct Floor {
  explicit Floor(std::size_t threads, std::size_t size)
      : pool(threads), bytes(static_cast<std::uint8_t*>(std::malloc(size))) {
    for (std::size_t i = 0; i < size; i += 512) bytes[i] = static_cast<std::uint8_t>(i);
  }
  gpt2::ThreadPool pool;
  std::uint8_t* bytes;
};

}  // namespace

extern "C" {

EMSCRIPTEN_KEEPALIVE Floor* floor_create(std::size_t threads, std::size_t size) {
  return new Floor(threads, size);
}

// Reads the first `size` bytes `rounds` times and returns the milliseconds that took.
EMSCRIPTEN_KEEPALIVE double floor_run(Floor* floor, std::size_t size, int rounds) {
  std::atomic<std::uint32_t> total{0};
  const double start = emscripten_get_now();
  for (int round = 0; round < rounds; ++round) {
    floor->pool.ParallelFor(size / 65536, 64, [&](std::size_t begin, std::size_t end) {
      total += SumBytes(floor->bytes + begin * 65536, (end - begin) * 65536);
    });
  }
  const double elapsed = emscripten_get_now() - start;
  return total == 1 ? -1 : elapsed;  // keeps the sum
}

}  // extern "C"
