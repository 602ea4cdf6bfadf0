// The arithmetic of LoRA, in a separate file so that WebAssembly also compiles it for speed.
#pragma once

#include <cstddef>
#include <span>

namespace gpt2 {

// Adds scale * (c[0] rows[0] + c[1] rows[1] + ...) to `values` [n]. The elements of `c` are
// `c_step` apart; `rows` is [rank, n]. `sums` [n] is working memory. In float32, in this order,
// each product and each sum rounded.
void AddCombination(float scale, const float* c, std::size_t c_step, std::span<const float> rows,
                    std::span<float> sums, float* values);

}  // namespace gpt2
