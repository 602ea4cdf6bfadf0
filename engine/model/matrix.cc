#include "engine/model/matrix.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>

#include "engine/base/aligned_buffer.h"
#include "engine/base/mat_view.h"
#include "engine/base/result.h"
#include "engine/kernels/layout.h"
#include "engine/kernels/scalar_math.h"
#include "engine/model/weight_format.h"

namespace gpt2 {
namespace {

// The smallest bfloat16 that is at least `value`, for finite value >= 0.
BFloat16 RoundUpToBFloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<BFloat16>((bits + 0xffffu) >> 16);
}

// The code of input `k` of a group, from its words.
int Code(WeightFormat format, MatView<const std::uint8_t> words, std::size_t k) {
  const std::size_t step = k / kStepInputs;
  if (format == WeightFormat::kQ8) {
    return static_cast<std::int8_t>(words.Row(step)[k % kStepInputs]);
  }
  const int both = words.Row(step / 2)[k % kStepInputs];
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
  if (format == WeightFormat::kF32) {
    const std::size_t values = matrix.tiles() * kTileRows * cols;
    GPT2_ASSIGN(matrix.values_, AlignedBuffer<float>::CreateUnset(values, name));
  } else {
    const std::size_t bytes = matrix.tiles() * matrix.groups() * matrix.block_bytes();
    GPT2_ASSIGN(matrix.blocks_, AlignedBuffer<std::uint8_t>::CreateUnset(bytes, name));
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
         same(values_, other.values_) && same(blocks_, other.blocks_);
}

// The last tile is the one that may have padding.
void Matrix::ZeroLastTile() {
  const auto zero = [tiles = tiles()]<typename T>(AlignedBuffer<T>& buffer) {
    const std::size_t count = buffer.size() / tiles;
    std::fill_n(buffer.data() + buffer.size() - count, count, T{0});
  };
  zero(values_);
  zero(blocks_);
}

std::size_t Matrix::ValueIndex(std::size_t row, std::size_t col) const {
  return (row / kTileRows * cols_ + col) * kTileRows + row % kTileRows;
}

std::size_t Matrix::words_per_group() const {
  return InfoOf(format_).GroupBytes() / kWordBytes;
}

std::size_t Matrix::block_bytes() const {
  return format_ == WeightFormat::kQ8 ? sizeof(Q8Block) : sizeof(Q4Block);
}

// The index in blocks_ of the first byte of this group of the row's tile.
std::size_t Matrix::BlockStart(std::size_t row, std::size_t group) const {
  assert(format_ != WeightFormat::kF32 && row < rows_ && group < groups());
  return (row / kTileRows * groups() + group) * block_bytes();
}

MatView<std::uint8_t> Matrix::MutableCodeWords(std::size_t row, std::size_t group) {
  return {blocks_.data() + BlockStart(row, group) + row % kTileRows * kWordBytes, words_per_group(),
          kWordBytes, kTileRows * kWordBytes};
}

MatView<const std::uint8_t> Matrix::CodeWords(std::size_t row, std::size_t group) const {
  return {blocks_.data() + BlockStart(row, group) + row % kTileRows * kWordBytes, words_per_group(),
          kWordBytes, kTileRows * kWordBytes};
}

// The index in blocks_ of the scale of the row's first group.
std::size_t Matrix::FirstScale(std::size_t row) const {
  const std::size_t code_bytes = words_per_group() * kTileRows * kWordBytes;
  return BlockStart(row, /*group=*/0) + code_bytes + row % kTileRows * sizeof(BFloat16);
}

MatView<BFloat16> Matrix::Scales(std::size_t row) {
  return {reinterpret_cast<BFloat16*>(blocks_.data() + FirstScale(row)), groups(), 1,
          block_bytes() / sizeof(BFloat16)};
}

MatView<const BFloat16> Matrix::Scales(std::size_t row) const {
  return {reinterpret_cast<const BFloat16*>(blocks_.data() + FirstScale(row)), groups(), 1,
          block_bytes() / sizeof(BFloat16)};
}

void Matrix::SumGroup(std::size_t row, std::size_t group) {
  // The bytes of a word are added as two pairs of 16 bits. 128 is added to each code, so that none
  // is negative.
  const MatView<const std::uint8_t> words = CodeWords(row, group);
  std::uint32_t pairs = 0;
  for (std::size_t step = 0; step < kGroupSteps; ++step) {
    std::uint32_t word = 0;
    std::memcpy(&word, words.Row(step).data(), kWordBytes);
    word ^= 0x80808080u;
    pairs += (word & 0x00ff00ffu) + (word >> 8 & 0x00ff00ffu);
  }
  const auto sum = static_cast<int>((pairs & 0xffffu) + (pairs >> 16));
  auto* block = reinterpret_cast<Q8Block*>(blocks_.data() + BlockStart(row, group));
  block->negative_sums[row % kTileRows] =
      static_cast<std::int16_t>(128 * static_cast<int>(kGroup) - sum);
}

void Matrix::SetCodes(std::size_t row, std::span<const std::uint8_t> codes) {
  assert(codes.size() <= groups() * InfoOf(format_).GroupBytes());
  for (std::size_t group = 0; group < groups(); ++group) {
    const MatView<std::uint8_t> words = MutableCodeWords(row, group);
    for (std::size_t word = 0; word < words.rows; ++word) {
      std::uint8_t* target = words.Row(word).data();
      const std::size_t count = std::min(codes.size(), kWordBytes);
      std::memcpy(target, codes.data(), count);
      std::fill(target + count, target + kWordBytes, std::uint8_t{0});
      codes = codes.subspan(count);
    }
    if (format_ == WeightFormat::kQ8) SumGroup(row, group);
  }
}

void Matrix::SetGroup(std::size_t row, std::size_t group, std::span<const std::int8_t> codes,
                      BFloat16 scale) {
  assert(codes.size() <= kGroup);
  Scales(row).Row(group)[0] = scale;
  std::array<std::int8_t, kGroup> whole{};
  std::copy(codes.begin(), codes.end(), whole.begin());
  const MatView<std::uint8_t> words = MutableCodeWords(row, group);
  for (std::size_t word = 0; word < words.rows; ++word) {
    std::uint8_t* target = words.Row(word).data();
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
  if (format_ == WeightFormat::kQ8) SumGroup(row, group);
}

void Matrix::SetRow(std::size_t row, std::span<const float> weights) {
  assert(row < rows_ && weights.size() == cols_);
  if (format_ == WeightFormat::kF32) {
    for (std::size_t col = 0; col < cols_; ++col)
      values_.data()[ValueIndex(row, col)] = weights[col];
    return;
  }
  assert(format_ == WeightFormat::kQ8);
  for (std::size_t group = 0; group < groups(); ++group) {
    const std::size_t start = group * kGroup;
    const auto values = weights.subspan(start, std::min(kGroup, cols_ - start));
    std::array<std::int8_t, kGroup> codes{};
    const BFloat16 scale = QuantizeWeights(values, codes.data());
    SetGroup(row, group, codes, scale);
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
  const MatView<const BFloat16> scales = Scales(row);
  for (std::size_t group = 0; group < groups(); ++group) {
    const MatView<const std::uint8_t> words = CodeWords(row, group);
    const float scale = WidenBFloat16(scales.Row(group)[0]);
    const std::size_t start = group * kGroup;
    for (std::size_t k = 0; k < std::min(kGroup, cols_ - start); ++k) {
      weights[start + k] = scale * static_cast<float>(Code(format_, words, k));
    }
  }
}

}  // namespace gpt2
