// Moves the rows of a tensor from its file into a model's weights.
#pragma once

#include <cstddef>

#include "engine/base/result.h"
#include "engine/format/weight_plan.h"
#include "engine/model/weights.h"

namespace gpt2 {

// Stores row `row` of the planned tensor, plan.row_bytes bytes, in `weights`, where its memory must
// be allocated. Fails, naming tensor and row, on a value that no converter writes.
Status TakeRow(const TensorPlan& plan, std::size_t row, const std::byte* bytes, Weights& weights);

}  // namespace gpt2
