#include "engine/model/matrix.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "engine/base/aligned_buffer.h"
#include "engine/base/mat_view.h"
#include "engine/base/result.h"
#include "engine/kernels/layout.h"
#include "engine/kernels/scalar_math.h"

namespace gpt2 {
namespace {

// The smallest bfloat16 that is at least `value`, for finite value >= 0.
BFloat16 RoundUpToBFloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<BFloat16>((bits + 0xffffu) >> 16);
}

// Weight `col`, as a code, from a row's words.
int Code(WeightFormat format, MatView<const std::uint8_t> words, std::size_t col) {
  const std::size_t step = col / kStepInputs;
  if (format == WeightFormat::kQ8) {
    return static_cast<std::int8_t>(words.Row(step)[col % kStepInputs]);
  }
  const int both = words.Row(step / 2)[col % kStepInputs];
  return (step % 2 == 0 ? both & 15 : both >> 4) - kQ4Zero;
}

}  // namespace

BFloat16 QuantizeWeights(std::span<const float> weights, std::int8_t* codes) {
  float absmax = 0.0f;
  for (const float weight : weights) absmax = std::max(absmax, std::fabs(weight));
  const BFloat16 scale = RoundUpToBFloat16(absmax / kLargestCode);
  const float step = WidenBFloat16(scale);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const float code = step > 0.0f ? std::round(weights[i] / step) : 0.0f;
    codes[i] = static_cast<std::int8_t>(std::clamp(code, -kLargestCode, kLargestCode));
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
    const std::size_t bytes = groups * matrix.words_per_group() * kWordBytes;
    GPT2_ASSIGN(matrix.codes_, AlignedBuffer<std::uint8_t>::CreateUnset(bytes, name));
    GPT2_ASSIGN(matrix.scales_, AlignedBuffer<BFloat16>::CreateUnset(groups, name));
  }
  matrix.ZeroLastTile();
  return matrix;
}

bool Matrix::operator==(const Matrix& other) const {
  // memcmp accepts no null pointer, which an empty buffer has.
  const auto same = [](const auto& a, const auto& b) {
    return a.size() == b.size() &&
           (a.size() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0);
  };
  return format_ == other.format_ && rows_ == other.rows_ && cols_ == other.cols_ &&
         same(values_, other.values_) && same(codes_, other.codes_) && same(scales_, other.scales_);
}

// The last tile is the one that may have padding.
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

std::size_t Matrix::words_per_group() const {
  return InfoOf(format_).GroupBytes() / kWordBytes;
}

// The index in codes_ of the first byte of row `row`, whose words are spread over its tile.
std::size_t Matrix::FirstWord(std::size_t row) const {
  assert(format_ != WeightFormat::kF32 && row < rows_);
  const std::size_t tile_words = groups() * words_per_group() * kTileRows;
  return (row / kTileRows * tile_words + row % kTileRows) * kWordBytes;
}

MatView<std::uint8_t> Matrix::CodeWords(std::size_t row) {
  return {codes_.data() + FirstWord(row), groups() * words_per_group(), kWordBytes,
          kTileRows * kWordBytes};
}

MatView<const std::uint8_t> Matrix::CodeWords(std::size_t row) const {
  return {codes_.data() + FirstWord(row), groups() * words_per_group(), kWordBytes,
          kTileRows * kWordBytes};
}

std::size_t Matrix::FirstScale(std::size_t row) const {
  assert(format_ != WeightFormat::kF32 && row < rows_);
  return row / kTileRows * groups() * kTileRows + row % kTileRows;
}

MatView<BFloat16> Matrix::Scales(std::size_t row) {
  return {scales_.data() + FirstScale(row), groups(), 1, kTileRows};
}

MatView<const BFloat16> Matrix::Scales(std::size_t row) const {
  return {scales_.data() + FirstScale(row), groups(), 1, kTileRows};
}

void Matrix::SetGroup(std::size_t row, std::size_t group, std::span<const std::int8_t> codes,
                      BFloat16 scale) {
  assert(codes.size() <= kGroup);
  Scales(row).Row(group)[0] = scale;
  std::array<std::int8_t, kGroup> whole{};
  std::copy(codes.begin(), codes.end(), whole.begin());
  const MatView<std::uint8_t> words = CodeWords(row);
  for (std::size_t word = 0; word < words_per_group(); ++word) {
    std::uint8_t* target = words.Row(group * words_per_group() + word).data();
    if (format_ == WeightFormat::kQ8) {
      std::memcpy(target, &whole[word * kStepInputs], kWordBytes);
      continue;
    }
    const std::int8_t* pair = &whole[word * 2 * kStepInputs];
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

void Matrix::ReadRow(std::size_t row, std::span<float> weights) const {
  assert(row < rows_ && weights.size() == cols_);
  if (format_ == WeightFormat::kF32) {
    for (std::size_t col = 0; col < cols_; ++col) {
      weights[col] = values_.data()[ValueIndex(row, col)];
    }
    return;
  }
  const MatView<const std::uint8_t> words = CodeWords(row);
  const MatView<const BFloat16> scales = Scales(row);
  for (std::size_t col = 0; col < cols_; ++col) {
    weights[col] =
        WidenBFloat16(scales.Row(col / kGroup)[0]) * static_cast<float>(Code(format_, words, col));
  }
}

}  // namespace gpt2
