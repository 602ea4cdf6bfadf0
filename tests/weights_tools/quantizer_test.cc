#include "weights_tools/quantizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "engine/base/random.h"
#include "tests/support/test_model.h"
#include "weights_tools/commands.h"
#include "weights_tools/model_folder.h"
#include "weights_tools/runner.h"

namespace gpt2::tools {
namespace {

float NextValue(Random& random) {
  return static_cast<float>(random.NextUnit() - 0.5);
}

Matrix RandomMatrix(std::size_t rows, std::size_t cols) {
  Random random(3);
  Matrix matrix = std::move(Matrix::Create(WeightFormat::kF32, rows, cols, "test").value());
  std::vector<float> row(cols);
  for (std::size_t r = 0; r < rows; ++r) {
    for (float& value : row) value = NextValue(random);
    matrix.SetRow(r, row);
  }
  return matrix;
}

std::vector<float> RowOf(const Matrix& matrix, std::size_t row) {
  std::vector<float> values(matrix.cols());
  matrix.ReadRow(row, values);
  return values;
}

TEST(QuantizeToQ4, WeightsOnTheGridAreExact) {
  ThreadPool pool(2);
  Random random(5);
  for (const std::size_t cols : {32, 33, 80}) {
    Matrix matrix = std::move(Matrix::Create(WeightFormat::kF32, 9, cols, "test").value());
    std::vector<float> row(cols);
    for (std::size_t r = 0; r < 9; ++r) {
      for (float& value : row) value = 0.25f * static_cast<float>(random.Next() % 16) - 2.0f;
      for (std::size_t i = 0; i < cols; i += kGroup) row[i] = -2.0f;  // code -8 of scale 1/4
      matrix.SetRow(r, row);
    }
    const Matrix out = std::move(QuantizeToQ4(matrix, {}, pool).value());
    for (std::size_t r = 0; r < 9; ++r) EXPECT_EQ(RowOf(out, r), RowOf(matrix, r)) << cols;
  }
}

TEST(QuantizeToQ4, TheErrorIsBoundedByTheStepBetweenCodes) {
  ThreadPool pool(1);
  const Matrix matrix = RandomMatrix(20, 77);
  const Matrix out = std::move(QuantizeToQ4(matrix, {}, pool).value());
  double squares = 0;
  for (std::size_t r = 0; r < matrix.rows(); ++r) {
    const auto a = RowOf(matrix, r), b = RowOf(out, r);
    for (std::size_t i = 0; i < a.size(); ++i) squares += std::pow(a[i] - b[i], 2);
  }
  // Weights are uniform in [-1/2, 1/2], so that 16 codes lie 1/16 apart. The root mean square of
  // the rounding error is 1/sqrt(12) of that. The bound is twice this error.
  EXPECT_LT(std::sqrt(squares / (20.0 * 77)), 2.0 / 16 / std::sqrt(12.0));
  Matrix zeros = std::move(Matrix::Create(WeightFormat::kF32, 8, 40, "test").value());
  for (std::size_t r = 0; r < 8; ++r) zeros.SetRow(r, std::vector<float>(40, 0.0f));
  EXPECT_EQ(RowOf(QuantizeToQ4(zeros, {}, pool).value(), 3), std::vector<float>(40, 0.0f));
}

// Inputs with correlated values, like a model's.
std::vector<float> CorrelatedInputs(std::size_t count, std::size_t size) {
  Random random(11);
  std::vector<float> inputs(count * size);
  for (std::size_t n = 0; n < count; ++n) {
    const float common = NextValue(random);
    for (std::size_t i = 0; i < size; ++i) {
      const float weight = i % 5 == 0 ? 4.0f : 0.5f;  // some inputs have more weight
      inputs[n * size + i] = weight * (common + 0.4f * NextValue(random));
    }
  }
  return inputs;
}

double OutputError(const Matrix& a, const Matrix& b, const std::vector<float>& inputs) {
  double error = 0;
  for (std::size_t r = 0; r < a.rows(); ++r) {
    const auto x = RowOf(a, r), y = RowOf(b, r);
    for (std::size_t n = 0; n < inputs.size(); n += a.cols()) {
      double difference = 0;
      for (std::size_t i = 0; i < a.cols(); ++i) difference += (x[i] - y[i]) * inputs[n + i];
      error += difference * difference;
    }
  }
  return error;
}

TEST(QuantizeToQ4, CalibrationReducesTheErrorOfTheOutput) {
  constexpr std::size_t kCols = 80, kCount = 400;
  const std::vector<float> inputs = CorrelatedInputs(kCount, kCols);
  Gram gram{kCols, std::vector<float>(kCols * kCols)};
  for (std::size_t n = 0; n < inputs.size(); n += kCols) {
    for (std::size_t i = 0; i < kCols; ++i) {
      for (std::size_t j = i; j < kCols; ++j) {
        gram.Row(i)[j] += inputs[n + i] * inputs[n + j] / kCount;
      }
    }
  }
  const Matrix matrix = RandomMatrix(24, kCols);
  ThreadPool one(1), three(3);
  const Matrix plain = std::move(QuantizeToQ4(matrix, {}, one).value());
  const Matrix calibrated = std::move(QuantizeToQ4(matrix, gram, one).value());
  EXPECT_LT(OutputError(matrix, calibrated, inputs), 0.4 * OutputError(matrix, plain, inputs));
  const Matrix again = std::move(QuantizeToQ4(matrix, gram, three).value());
  for (std::size_t r = 0; r < 24; ++r) EXPECT_EQ(RowOf(again, r), RowOf(calibrated, r));
}

TEST(QuantizeToQ4, InputsThatAreAlwaysZeroGiveFiniteWeights) {
  ThreadPool pool(1);
  const Matrix matrix = RandomMatrix(4, 64);
  Gram gram{64, std::vector<float>(64 * 64, 0.0f)};
  EXPECT_TRUE(QuantizeToQ4(matrix, gram, pool).ok());  // no input was seen, as without calibration
  gram.Row(7)[7] = 2.0f;
  const Matrix out = std::move(QuantizeToQ4(matrix, gram, pool).value());
  for (const float value : RowOf(out, 0)) EXPECT_TRUE(std::isfinite(value));
}

// A tiny model, converted to q4 and loaded again.
class Q4ModelTest : public ::testing::Test {
 protected:
  // Runs once for all tests, because calibration takes seconds.
  static void SetUpTestSuite() {
    folder = fs::path(::testing::TempDir()) / "q4-model";
    const std::string source = testing::TinyModelFolder("tied");
    ASSERT_TRUE(Convert(source, folder.string(), {.format = StoredWeights::kQ4, .force = true},
                        /*json=*/true)
                    .ok());
  }
  static void TearDownTestSuite() { fs::remove_all(folder); }

  std::vector<std::vector<float>> Logits(const RunOptions& options, std::size_t chunk) {
    const testing::Golden golden(testing::TinyModelFolder("tied"));
    const auto runner = std::move(MakeRunner(folder.string(), options).value());
    Sequence& sequence = runner->context->sequence();
    sequence.SetWindow(golden.ids);
    std::vector<std::vector<float>> rows;
    while (!sequence.is_current()) {
      const Pass pass = runner->context->Prefill(sequence, chunk);
      const auto logits = std::move(pass.Logits(0, pass.tokens()).value());
      for (std::size_t r = 0; r < logits.rows; ++r) {
        rows.emplace_back(logits.Row(r).begin(), logits.Row(r).end());
      }
    }
    return rows;
  }

  static inline fs::path folder;
};

TEST_F(Q4ModelTest, BlocksAreQ4AndTheHeadIsQ8) {
  const LoadedModel model = std::move(LoadModel(folder, WeightFormat::kF32).value());
  EXPECT_EQ(model.weights->wte.format(), WeightFormat::kQ8);
  EXPECT_EQ(model.weights->format(), WeightFormat::kQ4);
  for (const BlockWeights& block : model.weights->blocks) {
    for (const LinearWeights* linear :
         {&block.attn_qkv, &block.attn_out, &block.mlp_up, &block.mlp_down}) {
      EXPECT_EQ(linear->weight.format(), WeightFormat::kQ4);
      // 4.5 bits a weight, except for the padding of widths that are no multiple of a group.
      const std::size_t padded = linear->weight.tiles() * kTileRows * linear->weight.groups();
      EXPECT_EQ(linear->weight.bytes(), padded * (kGroup / 2 + 2));
    }
  }
}

TEST_F(Q4ModelTest, ChunksThreadsAndKernelsDoNotChangeABit) {
  const auto expected = Logits({.threads = 1, .kv = {}, .kernels = "reference"}, 16);
  for (const std::size_t chunk : {1, 2, 3, 5, 16}) {
    EXPECT_EQ(Logits({.threads = 3, .kv = {}, .kernels = {}}, chunk), expected) << chunk;
  }
}

TEST_F(Q4ModelTest, OutputStaysCloseToTheReference) {
  const testing::Golden golden(testing::TinyModelFolder("tied"));
  const auto logits = Logits({.threads = 1, .kv = {}, .kernels = {}}, 16);
  double error = 0, norm = 0;
  for (std::size_t row = 0; row < logits.size(); ++row) {
    for (std::size_t id = 0; id < logits[row].size(); ++id) {
      error += std::pow(logits[row][id] - golden.logits[row][id], 2);
      norm += std::pow(golden.logits[row][id], 2);
    }
  }
  // Rounding to 16 levels is an error of some 8 % in each matrix; q8's is twenty times smaller.
  EXPECT_LT(std::sqrt(error / norm), 0.15);
  EXPECT_GT(std::sqrt(error / norm), 0.005);
}

}  // namespace
}  // namespace gpt2::tools
