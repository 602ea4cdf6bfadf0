#include "weights_tools/quantizer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

namespace gpt2::tools {
namespace {

constexpr int kLeastCode = -kQ4Zero;
constexpr int kMostCode = kLeastCode + 15;

// How each rounding error is passed on. With moments = R R^T, R upper triangular, the sum over a
// row's weighted squared errors is sum of importance[j] * (rounding error of target j)^2, where
// target j = weight j + sum over k < j of error k * feedback[k, j].
struct Feedback {
  std::vector<float> importance;  // [in]: R[j, j]^2
  std::vector<float>
      panels;  // [groups, in, kGroup]: R[k, j] / R[j, j] at [j / kGroup, k, j % kGroup]
  std::size_t size = 0;

  const float* Panel(std::size_t group) const { return panels.data() + group * size * kGroup; }
};

// The sum of a[i] * b[i], in lanes that a compiler turns into vectors.
float Dot(const float* a, const float* b, std::size_t n) {
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

// R of moments + damping * I = R R^T, in place of the moments; false if they are not positive
// definite. From the last column to the first, each row i <= j in its own thread.
bool Factorize(ThreadPool& pool, float damping, Moments& r) {
  const std::size_t n = r.size;
  for (std::size_t j = n; j-- > 0;) {
    float* row_j = r.Row(j);
    const float* tail_j = row_j + j + 1;
    const std::size_t tail = n - 1 - j;
    const float square = row_j[j] + damping - Dot(tail_j, tail_j, tail);
    if (!(square > 0.0f)) return false;
    row_j[j] = std::sqrt(square);
    const float inverse = 1.0f / row_j[j];
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

Feedback MakeFeedback(ThreadPool& pool, const Moments& moments, std::size_t inputs) {
  Feedback feedback;
  feedback.size = inputs;
  feedback.importance.assign(inputs, 1.0f);
  if (moments.size == 0) return feedback;
  float mean = 0.0f;
  for (std::size_t i = 0; i < inputs; ++i) mean += moments.Row(i)[i] / static_cast<float>(inputs);
  if (!(mean > 0.0f && std::isfinite(mean))) return feedback;  // no inputs, or beyond float
  // 1 % of the mean, GPTQ's own choice, keeps what the text hardly showed from being overfitted.
  Moments r;
  float damping = 0.01f * mean;
  for (r = moments; !Factorize(pool, damping, r); r = moments) {
    damping *= 10;
    if (!std::isfinite(damping)) return feedback;
  }
  const std::size_t groups = CeilDiv(inputs, kGroup);
  feedback.panels.assign(groups * inputs * kGroup, 0.0f);
  for (std::size_t j = 0; j < inputs; ++j) {
    const float diagonal = r.Row(j)[j];
    feedback.importance[j] = diagonal * diagonal;
    float* panel = feedback.panels.data() + j / kGroup * inputs * kGroup + j % kGroup;
    for (std::size_t k = 0; k < j; ++k) panel[k * kGroup] = r.Row(k)[j] / diagonal;
  }
  return feedback;
}

float Round(float target, float inverse) {
  // Adding and subtracting 1.5 * 2^23 rounds half to even, and vectorizes everywhere.
  constexpr float kRound = 12582912.0f;
  return std::clamp((target * inverse + kRound) - kRound, static_cast<float>(kLeastCode),
                    static_cast<float>(kMostCode));
}

BFloat16 ToBFloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<BFloat16>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);  // nearest even
}

// The scale, of kTries sizes and both signs around the one that gives the largest target the code
// -8, that rounds `targets` with the least weighted error.
BFloat16 SearchScale(const std::array<float, kGroup>& targets,
                     const std::array<float, kGroup>& importance) {
  float extreme = 0.0f;
  for (const float target : targets) {
    if (std::fabs(target) > std::fabs(extreme)) extreme = target;
  }
  if (std::fabs(extreme) < 1e-30f) return 0;
  constexpr int kTries = 27;                           // in steps of 0.025, 1 among them
  constexpr float kSmallest = 0.6f, kLargest = 1.25f;  // beyond, none was ever best
  BFloat16 best = 0;
  float least = INFINITY;
  for (int i = 0; i < 2 * kTries; ++i) {
    const float size =
        kSmallest + (kLargest - kSmallest) * static_cast<float>(i / 2) / (kTries - 1);
    const BFloat16 candidate = ToBFloat16((i % 2 == 0 ? -size : size) * extreme / kQ4Zero);
    const float scale = WidenBFloat16(candidate);
    if (scale == 0.0f) continue;
    const float inverse = 1.0f / scale;
    std::array<float, kGroup> errors;
    for (std::size_t k = 0; k < kGroup; ++k) {
      const float error = targets[k] - scale * Round(targets[k], inverse);
      errors[k] = importance[k] * error * error;
    }
    float sum = 0.0f;
    for (const float error : errors) sum += error;
    if (sum < least) {
      least = sum;
      best = candidate;
    }
  }
  return best;
}

// Quantizes group `group` of one row: weights [in], and errors [in], known before the group.
void QuantizeGroup(const Feedback& feedback, std::size_t group, const float* weights,
                   std::size_t row, float* errors, Matrix& out) {
  const std::size_t start = group * kGroup;
  const std::size_t count = std::min(kGroup, feedback.size - start);
  const bool has_feedback = !feedback.panels.empty();
  const float* panel = has_feedback ? feedback.Panel(group) : nullptr;
  std::array<float, kGroup> targets{};
  std::array<float, kGroup> importance{};
  std::copy(weights + start, weights + start + count, targets.begin());
  std::copy(&feedback.importance[start], &feedback.importance[start] + count, importance.begin());
  for (std::size_t k = 0; has_feedback && k < start; ++k) {
    for (std::size_t j = 0; j < kGroup; ++j) targets[j] += errors[k] * panel[k * kGroup + j];
  }
  const BFloat16 scale = SearchScale(targets, importance);
  const float step = WidenBFloat16(scale);
  std::array<std::int8_t, kGroup> codes{};
  for (std::size_t j = 0; j < count; ++j) {
    float target = targets[j];
    for (std::size_t k = 0; has_feedback && k < j; ++k) {
      target += errors[start + k] * panel[(start + k) * kGroup + j];
    }
    const float code = step == 0.0f ? 0.0f : Round(target, 1.0f / step);
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

Result<Matrix> QuantizeToQ4(const Matrix& original, const Moments& moments, ThreadPool& pool) {
  const std::size_t rows = original.rows();
  const std::size_t cols = original.cols();
  GPT2_ASSIGN(Matrix out, Matrix::Create(WeightFormat::kQ4, rows, cols, "4-bit weights"));
  const Feedback feedback = MakeFeedback(pool, moments, cols);
  std::vector<float> weights(rows * cols);
  std::vector<float> errors(rows * cols);
  for (std::size_t r = 0; r < rows; ++r) original.ReadRow(r, {&weights[r * cols], cols});
  // Group by group, so that a panel of the feedback serves all rows from the cache.
  for (std::size_t group = 0; group < original.groups(); ++group) {
    constexpr std::size_t kGrain = 16;
    pool.ParallelFor(rows, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r) {
        QuantizeGroup(feedback, group, &weights[r * cols], r, &errors[r * cols], out);
      }
    });
  }
  return out;
}

}  // namespace gpt2::tools
