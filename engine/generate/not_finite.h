// Detects values that exceed a float's range.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "engine/model/hooks.h"

namespace gpt2 {

// Whether all values are finite.
bool AllFinite(std::span<const float> values);

// The name of the tensor whose result first appears at a place. `layer`: of the place.
std::string TensorBefore(Place place, std::size_t layer);

}  // namespace gpt2
