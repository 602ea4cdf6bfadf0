// The Gram matrices of the inputs of a model's matrices, measured by running a text. They show
// which inputs matter, and which vary together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/generate/context.h"
#include "engine/model/weights.h"

namespace gpt2::tools {

// The Gram matrix of the inputs x [in] of one matrix: [i, j] = mean of x_i x_j over all tokens. It
// is GPTQ's Hessian without its factor 2. [in, in], symmetric; only i <= j is filled.
struct Gram {
  std::size_t size = 0;
  std::vector<float> values;

  float* Row(std::size_t i) { return values.data() + i * size; }
  const float* Row(std::size_t i) const { return values.data() + i * size; }
};

// By the matrix' name (TensorSpec), "h.0.attn.c_attn.weight".
using GramByMatrix = std::map<std::string, Gram>;

// Runs `ids` through the model in windows of its context and sums up the inputs of the matrices of
// blocks among `specs`. The sums of a whole model may not fit in memory. Needs at least one id.
GramByMatrix MeasureGrams(Context& context, std::span<const std::int32_t> ids,
                          std::span<const TensorSpec> specs, const std::string& label);

}  // namespace gpt2::tools
