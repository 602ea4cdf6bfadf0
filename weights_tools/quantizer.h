// From float matrices to codes and scales.
#pragma once

#include "engine/base/result.h"
#include "engine/base/thread_pool.h"
#include "engine/model/matrix.h"
#include "weights_tools/calibration.h"

namespace gpt2::tools {

// `original` in kQ8, rounded to nearest.
Result<Matrix> QuantizeToQ8(const Matrix& original);

// `original` in kQ4, its error on the inputs that `gram` describes made small in two ways. The
// error of a weight that was rounded is made up for by the weights after it in its row, as far as
// their inputs go together (Frantar et al. 2022: "GPTQ"; in the form of Chee et al. 2023: "QuIP",
// section 3: LDLQ). And each group takes the scale, of many tried, whose remaining error, weighted
// by what each input still matters, is least. gram.size is original.cols(), or 0: then all inputs
// matter alike.
Result<Matrix> QuantizeToQ4(const Matrix& original, const Gram& gram, ThreadPool& pool);

}  // namespace gpt2::tools
