// Numbers that a model's weights drove past what a float holds.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace gpt2 {

// Whether no value is infinite or NaN.
bool AllFinite(std::span<const float> values);

// The tensor whose result a stage of Trace is the first to show.
std::string TensorBefore(std::string_view stage);

}  // namespace gpt2
