// The arithmetic of LoRA, apart: it is compiled for speed in WebAssembly, too.
#pragma once

#include <cstddef>
#include <span>

namespace gpt2 {

// Adds scale * (c[0] rows[0] + c[1] rows[1] + ...) to `values` [n]. `c` has a value in each
// `c_step`; `rows` is [rank, n]. `sums` [n] is room to work in. In float32, in this order, each
// product and each sum rounded.
void AddCombination(float scale, const float* c, std::size_t c_step, std::span<const float> rows,
                    std::span<float> sums, float* values);

}  // namespace gpt2
