#include "weights_tools/model_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "engine/format/code_rows.h"
#include "tests/support/has.h"
#include "tests/support/test_model.h"
#include "weights_tools/model_folder.h"
#include "weights_tools/progress.h"

namespace gpt2::tools {
namespace {

class ModelWriterTest : public ::testing::Test {
 protected:
  ModelWriterTest()
      : folder(fs::path(::testing::TempDir()) /
               ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(folder);
  }
  ~ModelWriterTest() override { fs::remove_all(folder); }

  // Writes `weights`, with the config of the tiny model "tied".
  auto Write(StoredWeights format) {
    return WriteModel(
        folder, {.weights = weights.get(),
                 .only = nullptr,
                 .format = format,
                 .config = testing::ReadTestJson(testing::TinyModelFolder("tied") + "/config.json"),
                 .vocabulary = nullptr,
                 .inputs = {},
                 .force = true});
  }

  // Writes the tiny model in `format` and loads it again.
  LoadedModel WriteAndLoad(StoredWeights format) {
    weights =
        testing::LoadWeights(testing::TinyModelFolder("tied"),
                             format == StoredWeights::kQ8 ? WeightFormat::kQ8 : WeightFormat::kF32);
    const auto report = Write(format);
    EXPECT_TRUE(report.ok()) << report.error().message;
    auto model = LoadModel(folder, WeightFormat::kF32);
    EXPECT_TRUE(model.ok()) << model.error().message;
    return std::move(model.value());
  }

  // The largest difference of the two models' matrices, relative to the value where that is over 1.
  float LargestDifference(const Weights& a, const Weights& b) {
    float largest = 0;
    for (const TensorSpec& spec : TensorSpecs(a.config)) {
      if (!spec.is_matrix()) continue;
      std::vector<float> row_a(spec.cols), row_b(spec.cols);
      for (std::size_t row = 0; row < spec.rows; ++row) {
        Bind(spec, a).matrix->ReadRow(row, row_a);
        Bind(spec, b).matrix->ReadRow(row, row_b);
        for (std::size_t k = 0; k < row_a.size(); ++k) {
          largest = std::max(largest,
                             std::fabs(row_a[k] - row_b[k]) / std::max(1.0f, std::fabs(row_a[k])));
        }
      }
    }
    return largest;
  }

  fs::path folder;
  std::unique_ptr<Weights> weights;
};

TEST_F(ModelWriterTest, F32AndQ8SurviveTheRoundTripExactly) {
  for (const StoredWeights format : {StoredWeights::kF32, StoredWeights::kQ8}) {
    LoadedModel model = WriteAndLoad(format);
    EXPECT_EQ(LargestDifference(*weights, *model.weights), 0.0f);
    EXPECT_EQ(model.weights->parameter_count,
              weights->parameter_count + 160);  // + lm_head.bias, as zeros
  }
}

TEST_F(ModelWriterTest, F16RoundsTheWeights) {
  LoadedModel model = WriteAndLoad(StoredWeights::kF16);
  const float difference = LargestDifference(*weights, *model.weights);
  EXPECT_GT(difference, 0.0f);
  EXPECT_LE(difference, 0x1p-11f);  // half a unit in the last of float16's eleven bits
}

TEST_F(ModelWriterTest, ValuesTooLargeForF16AreNamedAndNoFolderRemains) {
  weights = testing::LoadWeights(testing::TinyModelFolder("tied"), WeightFormat::kF32);
  std::vector<float> row(64, 70000.0f);
  weights->blocks[1].mlp_up.weight.SetRow(3, row);
  const auto report = Write(StoredWeights::kF16);
  ASSERT_FALSE(report.ok());
  EXPECT_TRUE(Has(report.error().message, "h.1.mlp.c_fc.weight"));
  EXPECT_FALSE(fs::exists(folder));
  for (const auto& entry : fs::directory_iterator(folder.parent_path())) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(folder.filename().string()));
  }
}

TEST_F(ModelWriterTest, ValuesTooLargeForAScaleAreNamed) {
  weights = testing::LoadWeights(testing::TinyModelFolder("tied"), WeightFormat::kQ8);
  Matrix& matrix = weights->blocks[0].mlp_up.weight;
  std::vector<BFloat16> scales(matrix.groups(), BFloat16{0x7f80});  // infinity
  SetScales(matrix, 5, scales);
  const auto report = Write(StoredWeights::kQ8);
  ASSERT_FALSE(report.ok());
  EXPECT_TRUE(Has(report.error().message, "h.0.mlp.c_fc.weight\" row 5"));
}

TEST(PieceBytes, StartsAtFourMebibytesAndDoublesAboveAThousandPieces) {
  constexpr std::uint64_t kMebi = 1 << 20;
  EXPECT_EQ(PieceBytes(1), 4 * kMebi);
  EXPECT_EQ(PieceBytes(4000 * kMebi), 4 * kMebi);
  EXPECT_EQ(PieceBytes(4000 * kMebi + 1), 8 * kMebi);
  EXPECT_EQ(PieceBytes(8001 * kMebi), 16 * kMebi);
}

// The progress reports while a model is written.

TEST(ShownDuration, RoundsLikeAnEstimate) {
  EXPECT_EQ(ShownDuration(0), "0 s");
  EXPECT_EQ(ShownDuration(12.4), "12 s");
  EXPECT_EQ(ShownDuration(59.4), "59 s");
  EXPECT_EQ(ShownDuration(60), "1 min");
  EXPECT_EQ(ShownDuration(64), "1 min");
  EXPECT_EQ(ShownDuration(197), "3 min 20 s");
  EXPECT_EQ(ShownDuration(3596), "1 h 0 min");
  EXPECT_EQ(ShownDuration(3920), "1 h 5 min");
}

TEST(ProgressLine, ShowsTheTimeLeftOnceItCanBeEstimated) {
  EXPECT_EQ(ProgressLine("making", 0.4, 20), "making: 40 %, 30 s left");
  EXPECT_EQ(ProgressLine("making", 1, 20), "making: 100 %, 0 s left");
  EXPECT_EQ(ProgressLine("making", 0.01, 20), "making: 1 %");
  EXPECT_EQ(ProgressLine("making", 0.4, 1), "making: 40 %");
}

}  // namespace
}  // namespace gpt2::tools
