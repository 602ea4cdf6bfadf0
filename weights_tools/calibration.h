// Which inputs of a matrix matter, and together with which: measured by running a text.
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

// For one matrix: moments[i, j] = mean of x_i x_j over the inputs x [in] that it saw. [in, in],
// symmetric; only i <= j is filled.
struct Moments {
  std::size_t size = 0;
  std::vector<float> values;

  float* Row(std::size_t i) { return values.data() + i * size; }
  const float* Row(std::size_t i) const { return values.data() + i * size; }
};

// By slot name ("h.0.attn.c_attn.weight").
using MomentsByMatrix = std::map<std::string, Moments>;

// The layer of a tensor's or a trace stage's name: 3 for "h.3.attn.c_attn.weight"; none elsewhere.
std::optional<std::size_t> LayerOf(std::string_view name);

// Runs `ids` through the model in windows of its context and sums up the inputs of the matrices of
// layers [first_layer, last_layer): a whole model's may not fit the memory. Needs at least one id.
MomentsByMatrix MeasureMoments(Context& context, std::span<const std::int32_t> ids,
                               std::size_t first_layer, std::size_t last_layer);

}  // namespace gpt2::tools
