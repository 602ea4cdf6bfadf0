#include "engine/model/matrix.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "engine/base/random.h"

namespace gpt2 {
namespace {

std::vector<float> RandomValues(std::size_t n) {
  Random random(17);
  std::vector<float> values(n);
  for (float& value : values) value = static_cast<float>(random.NextUnit() - 0.5);
  return values;
}

TEST(Matrix, RowsSurviveTheRoundTrip) {
  for (const WeightFormat format : {WeightFormat::kF32, WeightFormat::kQ8}) {
    for (const std::size_t rows : {1, 7, 8, 9, 20}) {
      for (const std::size_t cols : {32, 33, 80}) {
        Matrix matrix = std::move(Matrix::Create(format, rows, cols, "test").value());
        const std::vector<float> values = RandomValues(rows * cols);  // [rows, cols]
        for (std::size_t r = 0; r < rows; ++r) matrix.SetRow(r, {&values[r * cols], cols});
        // Half a step of the group's largest weight, whose scale is rounded up by at most 2^-7.
        const float tolerance = format == WeightFormat::kF32 ? 0.0f : 0.5f / 127 / 2 * 1.01f;
        std::vector<float> a(cols);
        for (std::size_t r = 0; r < rows; ++r) {
          matrix.ReadRow(r, a);
          for (std::size_t c = 0; c < cols; ++c) EXPECT_NEAR(a[c], values[r * cols + c], tolerance);
        }
      }
    }
  }
}

TEST(QuantizeWeights, TheScaleCoversTheLargestWeightAndZeroStaysZero) {
  const std::vector<float> weights = {0.3f, -1.0f, 0.999f, 0.0f};
  std::int8_t codes[4];
  const float scale = WidenBFloat16(QuantizeWeights(weights, codes));
  EXPECT_GE(scale * 127, 1.0f);
  EXPECT_LE(scale * 127, 1.0f * (1 + 0x1p-7f));
  EXPECT_EQ(codes[3], 0);
  EXPECT_GE(codes[1], -127);
  const std::vector<float> zeros(4, 0.0f);
  EXPECT_EQ(QuantizeWeights(zeros, codes), 0);
  EXPECT_EQ(codes[0], 0);
}

}  // namespace
}  // namespace gpt2
