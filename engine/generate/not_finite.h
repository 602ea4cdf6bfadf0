// Detects values that exceed a float's range.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace gpt2 {

// Whether no value is infinite or NaN.
bool AllFinite(std::span<const float> values);

// The tensor whose result first appears at a stage of Trace.
std::string TensorBefore(std::string_view stage);

}  // namespace gpt2
