#include "engine/model/matrix.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>

namespace gpt2 {
namespace {

// The smallest bfloat16 that is at least `value`, for finite value >= 0.
BFloat16 RoundUpToBFloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<BFloat16>((bits + 0xffffu) >> 16);
}

}  // namespace

BFloat16 QuantizeWeights(std::span<const float> weights, std::int8_t* codes) {
  float peak = 0.0f;
  for (const float weight : weights) peak = std::max(peak, std::fabs(weight));
  const BFloat16 scale = RoundUpToBFloat16(peak / 127.0f);
  const float step = WidenBFloat16(scale);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const float code = step > 0.0f ? std::round(weights[i] / step) : 0.0f;
    codes[i] = static_cast<std::int8_t>(std::clamp(code, -127.0f, 127.0f));
  }
  return scale;
}

Result<Matrix> Matrix::Create(WeightFormat format, std::size_t rows, std::size_t cols,
                              const char* name) {
  Matrix matrix;
  matrix.format_ = format;
  matrix.rows_ = rows;
  matrix.cols_ = cols;
  const std::size_t padded_rows = matrix.tiles() * kTileRows;
  switch (format) {
    case WeightFormat::kF32: {
      GPT2_ASSIGN(matrix.values_, AlignedBuffer<float>::Create(padded_rows * cols, name));
      break;
    }
    case WeightFormat::kQ8: {
      const std::size_t groups = matrix.groups();
      GPT2_ASSIGN(matrix.codes_,
                  AlignedBuffer<std::int8_t>::Create(padded_rows * groups * kGroup, name));
      GPT2_ASSIGN(matrix.scales_, AlignedBuffer<BFloat16>::Create(padded_rows * groups, name));
      break;
    }
  }
  return matrix;
}

std::size_t Matrix::ValueIndex(std::size_t row, std::size_t col) const {
  return (row / kTileRows * cols_ + col) * kTileRows + row % kTileRows;
}

// `col` is the first input of a step.
std::size_t Matrix::CodeIndex(std::size_t row, std::size_t col) const {
  const std::size_t steps = groups() * kGroupSteps;
  return ((row / kTileRows * steps + col / kStepInputs) * kTileRows + row % kTileRows) *
         kStepInputs;
}

std::size_t Matrix::ScaleIndex(std::size_t row, std::size_t group) const {
  return (row / kTileRows * groups() + group) * kTileRows + row % kTileRows;
}

void Matrix::SetGroup(std::size_t row, std::size_t group, std::span<const float> weights) {
  std::array<std::int8_t, kGroup> codes{};
  scales_.data()[ScaleIndex(row, group)] = QuantizeWeights(weights, codes.data());
  for (std::size_t i = 0; i < kGroup; i += kStepInputs) {
    std::memcpy(codes_.data() + CodeIndex(row, group * kGroup + i), &codes[i], kStepInputs);
  }
}

void Matrix::SetRow(std::size_t row, std::span<const float> weights) {
  assert(row < rows_ && weights.size() == cols_);
  if (format_ == WeightFormat::kF32) {
    for (std::size_t col = 0; col < cols_; ++col)
      values_.data()[ValueIndex(row, col)] = weights[col];
    return;
  }
  for (std::size_t group = 0; group < groups(); ++group) {
    const std::size_t start = group * kGroup;
    SetGroup(row, group, weights.subspan(start, std::min(kGroup, cols_ - start)));
  }
}

void Matrix::SetInputs(std::size_t first_input, std::size_t count, const float* weights) {
  assert(first_input % kGroup == 0 && count <= kGroup && first_input + count <= cols_);
  std::array<float, kGroup> group;
  for (std::size_t row = 0; row < rows_; ++row) {
    for (std::size_t i = 0; i < count; ++i) group[i] = weights[i * rows_ + row];
    if (format_ == WeightFormat::kQ8) {
      SetGroup(row, first_input / kGroup, {group.data(), count});
    } else {
      for (std::size_t i = 0; i < count; ++i) {
        values_.data()[ValueIndex(row, first_input + i)] = group[i];
      }
    }
  }
}

void Matrix::SetCodes(std::size_t row, std::span<const std::int8_t> codes) {
  assert(format_ == WeightFormat::kQ8 && row < rows_ && codes.size() == cols_);
  std::int8_t* target = codes_.data() + CodeIndex(row, 0);
  const std::size_t whole = cols_ / kStepInputs * kStepInputs;
  for (std::size_t col = 0; col < whole; col += kStepInputs, target += kTileRows * kStepInputs) {
    std::memcpy(target, &codes[col], kStepInputs);
  }
  if (whole < cols_) std::memcpy(target, &codes[whole], cols_ - whole);
}

void Matrix::SetScales(std::size_t row, std::span<const BFloat16> scales) {
  assert(format_ == WeightFormat::kQ8 && row < rows_ && scales.size() == groups());
  for (std::size_t g = 0; g < scales.size(); ++g) scales_.data()[ScaleIndex(row, g)] = scales[g];
}

void Matrix::ReadRow(std::size_t row, std::span<float> weights) const {
  assert(row < rows_ && weights.size() == cols_);
  for (std::size_t col = 0; col < cols_; ++col) {
    if (format_ == WeightFormat::kF32) {
      weights[col] = values_.data()[ValueIndex(row, col)];
    } else {
      const std::int8_t code =
          codes_.data()[CodeIndex(row, col / kStepInputs * kStepInputs) + col % kStepInputs];
      weights[col] = WidenBFloat16(scales_.data()[ScaleIndex(row, col / kGroup)]) * code;
    }
  }
}

void Matrix::ReadCodes(std::size_t row, std::span<std::int8_t> codes) const {
  assert(format_ == WeightFormat::kQ8 && row < rows_ && codes.size() == cols_);
  for (std::size_t col = 0; col < cols_; ++col) {
    const std::size_t step = col / kStepInputs * kStepInputs;
    codes[col] = codes_.data()[CodeIndex(row, step) + col % kStepInputs];
  }
}

void Matrix::ReadScales(std::size_t row, std::span<BFloat16> scales) const {
  assert(format_ == WeightFormat::kQ8 && row < rows_ && scales.size() == groups());
  for (std::size_t g = 0; g < scales.size(); ++g) scales[g] = scales_.data()[ScaleIndex(row, g)];
}

}  // namespace gpt2
