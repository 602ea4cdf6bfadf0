#include "weights_tools/quantizer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/base/aligned_buffer.h"
#include "engine/base/result.h"
#include "engine/base/thread_pool.h"
#include "engine/convert/quantize_q4.h"
#include "engine/kernels/layout.h"
#include "engine/model/matrix.h"
#include "weights_tools/calibration.h"

namespace gpt2::tools {
namespace {

// The Gram matrix H of the inputs, damped, as H = U D U^T with U upper triangular and ones on its
// diagonal. LDLQ rounds the inputs of a row in order, input j as
//   target j = weight j + sum over k < j of error k * U[k, j]
// where error k = weight k - its rounded value. Then the row's squared error on the inputs that H
// describes, error H error^T, is the sum of D[j] * (rounding error of target j)^2.
struct LdlFactors {
  std::size_t size = 0;         // inputs
  std::vector<float> diagonal;  // D [in]
  std::vector<float> upper;     // U [groups, in, kGroup], input j at [j / kGroup, :, j % kGroup];
                                // empty if all inputs matter alike: H is the identity

  // U's columns for the inputs of `group`: [in, kGroup].
  const float* Columns(std::size_t group) const { return upper.data() + group * size * kGroup; }
};

// The damping that is added to H's diagonal, relative to its mean: GPTQ's own choice (Frantar et
// al. 2022, section 3.3). It avoids overfitting to rare inputs.
constexpr float kDamping = 0.01f;
// The factor by which damping grows if rounding errors leave H not positive definite. Each try
// costs a factorization; a few such steps suffice for any text.
constexpr float kDampingStep = 10.0f;

// The sum of a[i] * b[i], in lanes that a compiler turns into vectors.
float Dot(const float* a, const float* b, std::size_t n) {
  // Four vectors of four floats: a sum need not wait for the one before it. A fixed number, so that
  // the order of additions, and with it the result, is the same on every machine.
  constexpr std::size_t kLanes = 16;
  std::array<float, kLanes> lanes{};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += a[i + lane] * b[i + lane];
  }
  float sum = 0.0f;
  for (; i < n; ++i) sum += a[i] * b[i];
  for (const float lane : lanes) sum += lane;
  return sum;
}

// R of gram + damping * I = R R^T, R upper triangular, in place of the Gram matrix; false if that
// is not positive definite. From the last column to the first, each row i <= j in its own thread.
bool Factorize(ThreadPool& pool, float damping, Gram& r) {
  const std::size_t n = r.size;
  for (std::size_t j = n; j-- > 0;) {
    float* row_j = r.Row(j);
    const float* tail_j = row_j + j + 1;
    const std::size_t tail = n - 1 - j;
    const float square = row_j[j] + damping - Dot(tail_j, tail_j, tail);
    if (!(square > 0.0f)) return false;
    row_j[j] = std::sqrt(square);
    const float inverse = 1.0f / row_j[j];
    // Rows that a thread claims at once, each a dot product of up to 3072 values. Columns are short
    // tasks, and there are thousands of them.
    constexpr std::size_t kGrain = 64;
    pool.ParallelFor(j, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        float* row_i = r.Row(i);
        row_i[j] = (row_i[j] - Dot(row_i + j + 1, tail_j, tail)) * inverse;
      }
    });
  }
  return true;
}

LdlFactors FactorizeGram(ThreadPool& pool, const Gram& gram, std::size_t inputs) {
  LdlFactors factors;
  factors.size = inputs;
  factors.diagonal.assign(inputs, 1.0f);
  if (gram.size == 0) return factors;
  float mean = 0.0f;
  for (std::size_t i = 0; i < inputs; ++i) mean += gram.Row(i)[i] / static_cast<float>(inputs);
  if (!(mean > 0.0f && std::isfinite(mean))) return factors;  // no inputs, or beyond float
  Gram r;
  float damping = kDamping * mean;
  for (r = gram; !Factorize(pool, damping, r); r = gram) {
    damping *= kDampingStep;
    if (!std::isfinite(damping)) return factors;
  }
  const std::size_t groups = CeilDiv(inputs, kGroup);
  factors.upper.assign(groups * inputs * kGroup, 0.0f);
  for (std::size_t j = 0; j < inputs; ++j) {
    const float diagonal = r.Row(j)[j];
    factors.diagonal[j] = diagonal * diagonal;
    float* column = factors.upper.data() + j / kGroup * inputs * kGroup + j % kGroup;
    for (std::size_t k = 0; k < j; ++k) column[k * kGroup] = r.Row(k)[j] / diagonal;
  }
  return factors;
}

// Quantizes group `group` of one row: weights [in], and errors [in], known before the group.
void QuantizeGroup(const LdlFactors& factors, std::size_t group, const float* weights,
                   std::size_t row, float* errors, Matrix& out) {
  const std::size_t start = group * kGroup;
  const std::size_t count = std::min(kGroup, factors.size - start);
  const bool is_calibrated = !factors.upper.empty();
  const float* columns = is_calibrated ? factors.Columns(group) : nullptr;
  std::array<float, kGroup> targets{};
  std::array<float, kGroup> diagonal{};
  std::copy(weights + start, weights + start + count, targets.begin());
  std::copy(&factors.diagonal[start], &factors.diagonal[start] + count, diagonal.begin());
  for (std::size_t k = 0; is_calibrated && k < start; ++k) {
    for (std::size_t j = 0; j < kGroup; ++j) targets[j] += errors[k] * columns[k * kGroup + j];
  }
  const BFloat16 scale = SearchQ4Scale(targets, diagonal);
  const float step = WidenBFloat16(scale);
  std::array<std::int8_t, kGroup> codes{};
  for (std::size_t j = 0; j < count; ++j) {
    float target = targets[j];
    for (std::size_t k = 0; is_calibrated && k < j; ++k) {
      target += errors[start + k] * columns[(start + k) * kGroup + j];
    }
    const float code = step == 0.0f ? 0.0f : RoundToQ4(target, 1.0f / step);
    codes[j] = static_cast<std::int8_t>(code);
    errors[start + j] = weights[start + j] - step * code;
  }
  out.SetGroup(row, group, {codes.data(), count}, scale);
}

}  // namespace

Result<Matrix> QuantizeToQ8(const Matrix& original) {
  GPT2_ASSIGN(Matrix out,
              Matrix::Create(WeightFormat::kQ8, original.rows(), original.cols(), "8-bit weights"));
  std::vector<float> row(original.cols());
  for (std::size_t r = 0; r < original.rows(); ++r) {
    original.ReadRow(r, row);
    out.SetRow(r, row);
  }
  return out;
}

Result<Matrix> QuantizeToQ4(const Matrix& original, const Gram& gram, ThreadPool& pool) {
  const std::size_t rows = original.rows();
  const std::size_t cols = original.cols();
  GPT2_ASSIGN(Matrix out, Matrix::Create(WeightFormat::kQ4, rows, cols, "4-bit weights"));
  const LdlFactors factors = FactorizeGram(pool, gram, cols);
  std::vector<float> weights(rows * cols);
  std::vector<float> errors(rows * cols);
  for (std::size_t r = 0; r < rows; ++r) original.ReadRow(r, {&weights[r * cols], cols});
  // Group by group, so that its columns of U serve all rows from the cache.
  for (std::size_t group = 0; group < original.groups(); ++group) {
    // Rows that a thread claims at once. It tries 54 scales for each group of a row.
    constexpr std::size_t kGrain = 16;
    pool.ParallelFor(rows, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r) {
        QuantizeGroup(factors, group, &weights[r * cols], r, &errors[r * cols], out);
      }
    });
  }
  return out;
}

}  // namespace gpt2::tools
