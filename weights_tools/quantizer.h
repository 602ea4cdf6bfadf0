// From float matrices to codes and scales.
#pragma once

#include "engine/base/result.h"
#include "engine/base/thread_pool.h"
#include "engine/model/matrix.h"
#include "weights_tools/calibration.h"

namespace gpt2::tools {

// `original` in kQ8, rounded to nearest.
Result<Matrix> QuantizeToQ8(const Matrix& original);

// `original` in kQ4, with a small error on the inputs that `gram` describes. Two methods reduce the
// error. The weights after a rounded weight in its row make up for its error, as far as their
// inputs correlate (Frantar et al. 2022: "GPTQ"; in the form of Chee et al. 2023: "QuIP", section
// 3: LDLQ). Each group takes the scale, of many tried, with the least remaining error, weighted by
// the importance of each input. gram.size is original.cols(), or 0: then all inputs are equally
// important.
Result<Matrix> QuantizeToQ4(const Matrix& original, const Gram& gram, ThreadPool& pool);

}  // namespace gpt2::tools
