// Detects values that exceed a float's range.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace gpt2 {

// Whether all values are finite.
bool AllFinite(std::span<const float> values);

// The name of the tensor whose result first appears at a stage of Trace.
std::string TensorBefore(std::string_view stage);

}  // namespace gpt2
