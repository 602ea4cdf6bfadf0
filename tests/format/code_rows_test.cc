// Tests codes and scales of quantized matrices: reading returns the values that were set, and
// padding stays zero.
#include "engine/format/code_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "engine/base/random.h"
#include "engine/model/matrix.h"

namespace gpt2 {
namespace {

constexpr std::size_t kRows[] = {1, 8, 9, 20};
constexpr std::size_t kCols[] = {32, 33, 70, 128};
constexpr WeightFormat kFormats[] = {WeightFormat::kQ8, WeightFormat::kQ4};

Matrix Create(WeightFormat format, std::size_t rows, std::size_t cols) {
  return std::move(Matrix::Create(format, rows, cols, "a test").value());
}

// Sets random codes and scales, and gives the weights [rows * cols] that they are codes of.
std::vector<float> Fill(Matrix& matrix, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> weights;
  for (std::size_t row = 0; row < matrix.rows(); ++row) {
    for (std::size_t group = 0; group < matrix.groups(); ++group) {
      const std::size_t count = std::min(kGroup, matrix.cols() - group * kGroup);
      // A power of two, so that scale * code is exact.
      const auto scale = static_cast<BFloat16>((120 + random.Next() % 10) << 7);
      std::array<std::int8_t, kGroup> codes;
      for (std::size_t i = 0; i < count; ++i) {
        const int range = matrix.format() == WeightFormat::kQ8 ? 255 : 16;
        const int least = matrix.format() == WeightFormat::kQ8 ? -127 : -8;
        codes[i] = static_cast<std::int8_t>(least + static_cast<int>(random.Next() % range));
        weights.push_back(WidenBFloat16(scale) * static_cast<float>(codes[i]));
      }
      matrix.SetGroup(row, group, {codes.data(), count}, scale);
    }
  }
  return weights;
}

std::vector<float> WeightsOf(const Matrix& matrix) {
  std::vector<float> weights(matrix.rows() * matrix.cols());
  for (std::size_t row = 0; row < matrix.rows(); ++row) {
    matrix.ReadRow(row, std::span(weights).subspan(row * matrix.cols(), matrix.cols()));
  }
  return weights;
}

TEST(CodeRows, CodesAndScalesSurviveTheRoundTrip) {
  for (const WeightFormat format : kFormats) {
    for (const std::size_t rows : kRows) {
      for (const std::size_t cols : kCols) {
        Matrix matrix = Create(format, rows, cols);
        const std::vector<float> weights = Fill(matrix, rows * cols);
        EXPECT_EQ(WeightsOf(matrix), weights) << rows << " x " << cols;
        Matrix copy = Create(format, rows, cols);
        std::vector<std::uint8_t> codes(CodeRowBytes(format, cols));
        std::vector<BFloat16> scales(copy.groups());
        for (std::size_t row = 0; row < rows; ++row) {
          ReadCodes(matrix, row, codes);
          ReadScales(matrix, row, scales);
          copy.SetCodes(row, codes);
          SetScales(copy, row, scales);
        }
        EXPECT_EQ(WeightsOf(copy), weights) << rows << " x " << cols;
      }
    }
  }
}

TEST(CodeRows, RowsHaveTheirDocumentedSizeInFilesAndMemory) {
  EXPECT_EQ(CodeRowBytes(WeightFormat::kQ8, 70), 70u);
  EXPECT_EQ(CodeRowBytes(WeightFormat::kQ4, 70), 3u * 16);
  // Two tiles of eight rows, three groups of 32 codes and a scale of two bytes, in q8 with a sum.
  EXPECT_EQ(Create(WeightFormat::kQ8, 9, 70).bytes(), 16u * 3 * (32 + 2 + 2));
  EXPECT_EQ(Create(WeightFormat::kQ4, 9, 70).bytes(), 16u * 3 * (16 + 2));
  EXPECT_EQ(Create(WeightFormat::kF32, 9, 70).bytes(), 16u * 70 * 4);
}

// The code of an input of a matrix, or of its padding.
int CodeAt(const TiledQ8& tiled, std::size_t row, std::size_t col) {
  const Q8Block& block = tiled.blocks[row / kTileRows * tiled.groups + col / kGroup];
  const std::size_t step = col % kGroup / kStepInputs;
  return block.codes[(step * kTileRows + row % kTileRows) * kStepInputs + col % kStepInputs];
}

void ExpectSums(const Matrix& matrix) {
  const TiledQ8 tiled = matrix.AsQ8(nullptr);
  for (std::size_t row = 0; row < matrix.tiles() * kTileRows; ++row) {
    for (std::size_t group = 0; group < tiled.groups; ++group) {
      int sum = 0;
      for (std::size_t k = 0; k < kGroup; ++k) sum += CodeAt(tiled, row, group * kGroup + k);
      const Q8Block& block = tiled.blocks[row / kTileRows * tiled.groups + group];
      EXPECT_EQ(block.negative_sums[row % kTileRows], -sum) << row << " " << group;
    }
  }
}

TEST(CodeRows, EachWayToSetARowUpdatesItsSums) {
  constexpr std::size_t kRowCount = 9, kColCount = 70;
  Matrix matrix = Create(WeightFormat::kQ8, kRowCount, kColCount);
  const std::vector<std::int8_t> least(kGroup, -127), most(kGroup, 127);
  for (std::size_t row = 0; row < kRowCount; ++row) {
    for (std::size_t group = 0; group < 2; ++group) {
      matrix.SetGroup(row, group, row % 2 == 0 ? least : most, 0x3f80);
    }
    matrix.SetGroup(row, 2, std::span(most).first(row % 6), 0x3f80);
  }
  ExpectSums(matrix);
  Fill(matrix, 1);
  ExpectSums(matrix);
  Matrix copy = Create(WeightFormat::kQ8, kRowCount, kColCount);
  std::vector<std::uint8_t> codes(CodeRowBytes(WeightFormat::kQ8, kColCount));
  for (std::size_t row = 0; row < kRowCount; ++row) {
    ReadCodes(matrix, row, codes);
    copy.SetCodes(row, codes);
  }
  ExpectSums(copy);
}

TEST(CodeRows, SettingARowClearsItsPadding) {
  constexpr std::size_t kRowCount = 9, kColCount = 70;
  Matrix matrix = Create(WeightFormat::kQ8, kRowCount, kColCount);
  const std::vector<std::int8_t> full(kGroup, 99);
  for (std::size_t row = 0; row < kRowCount; ++row) matrix.SetGroup(row, 2, full, 0x3f80);
  Fill(matrix, 1);
  const TiledQ8 tiled = matrix.AsQ8(nullptr);
  for (std::size_t row = 0; row < 16; ++row) {
    for (std::size_t col = 0; col < 96; ++col) {
      if (row < kRowCount && col < kColCount) continue;
      EXPECT_EQ(CodeAt(tiled, row, col), 0) << row << " " << col;
    }
  }
}

}  // namespace
}  // namespace gpt2
