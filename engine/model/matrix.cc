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

// Codes are handled in units of 4 bytes: what one row has of a step (kQ8) or a step pair (kQ4).
constexpr std::size_t kUnitBytes = kStepInputs;

}  // namespace

std::string_view WeightFormatName(WeightFormat format) {
  switch (format) {
    case WeightFormat::kF32:
      return "f32";
    case WeightFormat::kQ8:
      return "q8";
    case WeightFormat::kQ4:
      return "q4";
  }
  return "f32";
}

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
  if (format == WeightFormat::kF32) {
    GPT2_ASSIGN(matrix.values_, AlignedBuffer<float>::CreateUnset(padded_rows * cols, name));
  } else {
    const std::size_t groups = padded_rows * matrix.groups();
    const std::size_t bytes = groups * matrix.GroupUnits() * kUnitBytes;
    GPT2_ASSIGN(matrix.codes_, AlignedBuffer<std::uint8_t>::CreateUnset(bytes, name));
    GPT2_ASSIGN(matrix.scales_, AlignedBuffer<BFloat16>::CreateUnset(groups, name));
  }
  matrix.ZeroLastTile();
  return matrix;
}

// The one that may have rows of padding.
void Matrix::ZeroLastTile() {
  const auto zero = [tiles = tiles()]<typename T>(AlignedBuffer<T>& buffer) {
    const std::size_t count = buffer.size() / tiles;
    std::fill_n(buffer.data() + buffer.size() - count, count, T{0});
  };
  zero(values_);
  zero(codes_);
  zero(scales_);
}

std::size_t Matrix::ValueIndex(std::size_t row, std::size_t col) const {
  return (row / kTileRows * cols_ + col) * kTileRows + row % kTileRows;
}

std::size_t Matrix::GroupUnits() const {
  return format_ == WeightFormat::kQ4 ? kGroupSteps / 2 : kGroupSteps;
}

// Where the bytes of unit `unit` of row `row` begin.
std::size_t Matrix::UnitIndex(std::size_t row, std::size_t unit) const {
  const std::size_t units = groups() * GroupUnits();
  return ((row / kTileRows * units + unit) * kTileRows + row % kTileRows) * kUnitBytes;
}

std::size_t Matrix::ScaleIndex(std::size_t row, std::size_t group) const {
  return (row / kTileRows * groups() + group) * kTileRows + row % kTileRows;
}

int Matrix::Code(std::size_t row, std::size_t col) const {
  const std::size_t step = col / kStepInputs;
  if (format_ == WeightFormat::kQ8) {
    return static_cast<std::int8_t>(codes_.data()[UnitIndex(row, step) + col % kStepInputs]);
  }
  const int both = codes_.data()[UnitIndex(row, step / 2) + col % kStepInputs];
  return (step % 2 == 0 ? both & 15 : both >> 4) - kQ4Zero;
}

void Matrix::SetGroup(std::size_t row, std::size_t group, std::span<const std::int8_t> codes,
                      BFloat16 scale) {
  assert(format_ != WeightFormat::kF32 && row < rows_ && codes.size() <= kGroup);
  scales_.data()[ScaleIndex(row, group)] = scale;
  std::array<std::int8_t, kGroup> whole{};
  std::copy(codes.begin(), codes.end(), whole.begin());
  for (std::size_t unit = 0; unit < GroupUnits(); ++unit) {
    std::uint8_t* target = codes_.data() + UnitIndex(row, group * GroupUnits() + unit);
    if (format_ == WeightFormat::kQ8) {
      std::memcpy(target, &whole[unit * kStepInputs], kUnitBytes);
      continue;
    }
    const std::int8_t* pair = &whole[unit * 2 * kStepInputs];
    for (std::size_t i = 0; i < kStepInputs; ++i) {
      target[i] =
          static_cast<std::uint8_t>((pair[i] + kQ4Zero) | (pair[i + kStepInputs] + kQ4Zero) << 4);
    }
  }
}

void Matrix::Quantize(std::size_t row, std::size_t group, std::span<const float> weights) {
  assert(format_ == WeightFormat::kQ8);
  std::array<std::int8_t, kGroup> codes{};
  const BFloat16 scale = QuantizeWeights(weights, codes.data());
  SetGroup(row, group, codes, scale);
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
    Quantize(row, group, weights.subspan(start, std::min(kGroup, cols_ - start)));
  }
}

void Matrix::SetInputs(std::size_t first_input, std::size_t count, const float* weights) {
  assert(first_input % kGroup == 0 && count <= kGroup && first_input + count <= cols_);
  std::array<float, kGroup> group;
  for (std::size_t row = 0; row < rows_; ++row) {
    for (std::size_t i = 0; i < count; ++i) group[i] = weights[i * rows_ + row];
    if (format_ == WeightFormat::kF32) {
      for (std::size_t i = 0; i < count; ++i) {
        values_.data()[ValueIndex(row, first_input + i)] = group[i];
      }
    } else {
      Quantize(row, first_input / kGroup, {group.data(), count});
    }
  }
}

std::size_t Matrix::code_row_bytes() const {
  return format_ == WeightFormat::kQ4 ? groups() * kGroup / 2 : cols_;
}

void Matrix::SetCodes(std::size_t row, std::span<const std::uint8_t> codes) {
  assert(format_ != WeightFormat::kF32 && row < rows_ && codes.size() == code_row_bytes());
  std::uint8_t* target = codes_.data() + UnitIndex(row, 0);
  const std::size_t whole = codes.size() / kUnitBytes * kUnitBytes;
  for (std::size_t i = 0; i < whole; i += kUnitBytes, target += kTileRows * kUnitBytes) {
    std::memcpy(target, &codes[i], kUnitBytes);
  }
  if (whole < codes.size()) {
    std::memset(target, 0, kUnitBytes);
    std::memcpy(target, &codes[whole], codes.size() - whole);
    target += kTileRows * kUnitBytes;
  }
  // Up to the end of the group.
  const std::size_t units = groups() * GroupUnits() - CeilDiv(codes.size(), kUnitBytes);
  for (std::size_t unit = 0; unit < units; ++unit, target += kTileRows * kUnitBytes) {
    std::memset(target, 0, kUnitBytes);
  }
}

void Matrix::SetScales(std::size_t row, std::span<const BFloat16> scales) {
  assert(format_ != WeightFormat::kF32 && row < rows_ && scales.size() == groups());
  for (std::size_t g = 0; g < scales.size(); ++g) scales_.data()[ScaleIndex(row, g)] = scales[g];
}

void Matrix::ReadRow(std::size_t row, std::span<float> weights) const {
  assert(row < rows_ && weights.size() == cols_);
  for (std::size_t col = 0; col < cols_; ++col) {
    if (format_ == WeightFormat::kF32) {
      weights[col] = values_.data()[ValueIndex(row, col)];
    } else {
      weights[col] = WidenBFloat16(scales_.data()[ScaleIndex(row, col / kGroup)]) *
                     static_cast<float>(Code(row, col));
    }
  }
}

void Matrix::ReadCodes(std::size_t row, std::span<std::uint8_t> codes) const {
  assert(format_ != WeightFormat::kF32 && row < rows_ && codes.size() == code_row_bytes());
  for (std::size_t i = 0; i < codes.size(); ++i) {
    codes[i] = codes_.data()[UnitIndex(row, i / kUnitBytes) + i % kUnitBytes];
  }
}

void Matrix::ReadScales(std::size_t row, std::span<BFloat16> scales) const {
  assert(format_ != WeightFormat::kF32 && row < rows_ && scales.size() == groups());
  for (std::size_t g = 0; g < scales.size(); ++g) scales[g] = scales_.data()[ScaleIndex(row, g)];
}

}  // namespace gpt2
