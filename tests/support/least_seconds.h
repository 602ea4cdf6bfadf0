// Measures times that a test compares, also on a busy machine.
#pragma once

#include <algorithm>
#include <ctime>
#include <limits>

namespace gpt2::testing {

// The processor time of `times` calls of `run()`, in seconds: the least of three, as others take
// caches away. Some systems count it in steps of 10 ms, so it should be some 100 ms.
template <typename Run>
double LeastSeconds(int times, const Run& run) {
  double least = std::numeric_limits<double>::infinity();
  for (int attempt = 0; attempt < 3; ++attempt) {
    const std::clock_t start = std::clock();
    for (int i = 0; i < times; ++i) run();
    least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return least;
}

}  // namespace gpt2::testing
