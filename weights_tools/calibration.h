// The Gram matrices of the inputs of a model's matrices, measured by running a text. They show
// which inputs matter, and which vary together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/generate/context.h"

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

// The layer in the name of a tensor or a trace stage: 3 for "h.3.attn.c_attn.weight"; nothing for
// others.
std::optional<std::size_t> LayerOf(std::string_view name);

// Runs `ids` through the model in windows of its context and sums up the inputs of the matrices of
// layers [first_layer, last_layer). The sums of a whole model may not fit in memory. Needs at least
// one id.
GramByMatrix MeasureGrams(Context& context, std::span<const std::int32_t> ids,
                          std::size_t first_layer, std::size_t last_layer);

}  // namespace gpt2::tools
