#include "engine/convert/low_rank.h"

#include <algorithm>
#include <cstddef>
#include <span>

namespace gpt2 {

void AddCombination(float scale, const float* c, std::size_t c_step, std::span<const float> rows,
                    std::span<float> sums, float* values) {
  const std::size_t n = sums.size();
  std::fill(sums.begin(), sums.end(), 0.0f);
  for (std::size_t at = 0; at < rows.size(); at += n, c += c_step) {
    const float factor = *c;
    const float* const row = rows.data() + at;
    for (std::size_t i = 0; i < n; ++i) sums[i] += factor * row[i];
  }
  for (std::size_t i = 0; i < n; ++i) values[i] += scale * sums[i];
}

}  // namespace gpt2
