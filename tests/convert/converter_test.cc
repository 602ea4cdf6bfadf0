#include "engine/convert/converter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "engine/convert/block_types.h"
#include "engine/format/weight_reader.h"
#include "engine/model/weights.h"
#include "tests/support/test_model.h"

namespace gpt2 {
namespace {

struct Converted {
  std::string file;
  ConvertedFolder folder;
};

// Feeds `file` in chunks of up to `most` bytes, and takes what comes out.
Result<Converted> ConvertFile(Converter& converter, const std::string& file, std::size_t most) {
  Converted converted;
  std::size_t state = 1;
  for (std::size_t at = 0; at < file.size();) {
    state = state * 48271 % 2147483647;
    const std::size_t size = std::min(1 + state % most, file.size() - at);
    std::span<const std::byte> chunk = std::as_bytes(std::span(file)).subspan(at, size);
    at += size;
    while (true) {
      GPT2_ASSIGN(const std::span<const std::byte> out, converter.Take(chunk));
      if (out.empty()) break;
      converted.file.append(reinterpret_cast<const char*>(out.data()), out.size());
    }
    EXPECT_TRUE(chunk.empty());
  }
  GPT2_TRY(converter.Finish());
  converted.folder = *converter.folder();
  EXPECT_EQ(converted.folder.weight_bytes, converted.file.size());
  return converted;
}

Result<Converted> Convert(const std::string& model, StoredWeights weights,
                          std::size_t most = 1 << 20) {
  const std::string folder = testing::TinyModelFolder(model);
  GPT2_ASSIGN(
      const auto converter,
      Converter::OfSafetensors(testing::ReadTestFile(folder + "/config.json"), {}, weights));
  return ConvertFile(*converter, testing::ReadTestFile(folder + "/model.safetensors"), most);
}

std::unique_ptr<Weights> Load(const Converted& converted, WeightFormat float_format) {
  const auto config = ReadConfigJson(converted.folder.config);
  EXPECT_TRUE(config.ok()) << config.error().message;
  WeightReader reader(config.value(), float_format);
  const Status fed = reader.Feed(std::as_bytes(std::span(converted.file)));
  EXPECT_TRUE(fed.ok()) << fed.error().message;
  auto weights = reader.Finish();
  EXPECT_TRUE(weights.ok()) << weights.error().message;
  return std::move(weights.value());
}

// Every value, as the engine has it in memory.
std::vector<float> ValuesOf(const Weights& weights) {
  std::vector<float> values;
  for (const TensorSpec& spec : TensorSpecs(weights.config)) {
    const auto [matrix, floats] = Bind(spec, weights);
    std::vector<float> row(spec.cols);
    for (std::size_t r = 0; r < spec.rows; ++r) {
      if (matrix != nullptr) {
        matrix->ReadRow(r, row);
      } else if (spec.is_vector()) {
        std::copy_n(floats->data() + r * spec.cols, spec.cols, row.begin());
      }  // positions are float16 in what is converted
      values.insert(values.end(), row.begin(), row.end());
    }
  }
  return values;
}

TEST(Converter, AConvertedModelIsWhatTheEngineMakesOfTheOriginalItself) {
  for (const std::string& model : testing::TinyModelNames()) {
    for (const auto& [stored, format] : {std::pair(StoredWeights::kF32, WeightFormat::kF32),
                                         std::pair(StoredWeights::kQ8, WeightFormat::kQ8)}) {
      const auto converted = Convert(model, stored, 4000);
      ASSERT_TRUE(converted.ok()) << converted.error().message;
      const auto expected = testing::LoadWeights(testing::TinyModelFolder(model), format);
      if (model == "odd-width" && stored == StoredWeights::kQ8) continue;  // narrow ones are F16
      EXPECT_EQ(ValuesOf(*Load(converted.value(), WeightFormat::kF32)), ValuesOf(*expected))
          << model;
    }
  }
}

TEST(Converter, ChunksDoNotChangeAByte) {
  for (const StoredWeights weights : kConvertedWeights) {
    const auto whole = Convert("untied-bias", weights);
    const auto cut = Convert("untied-bias", weights, 100);
    ASSERT_TRUE(whole.ok() && cut.ok());
    EXPECT_TRUE(whole.value().file == cut.value().file);
  }
}

TEST(Converter, AnErrorStays) {
  const std::string folder = testing::TinyModelFolder("tied");
  const auto converter =
      std::move(Converter::OfSafetensors(testing::ReadTestFile(folder + "/config.json"), {},
                                         StoredWeights::kQ8)
                    .value());
  const std::string page = "<!doctype html>";
  std::span<const std::byte> bytes = std::as_bytes(std::span(page));
  const auto first = converter->Take(bytes);
  ASSERT_FALSE(first.ok());
  EXPECT_EQ(first.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(converter->Take(bytes).error().message, first.error().message);
  EXPECT_EQ(converter->Finish().error().message, first.error().message);
  EXPECT_EQ(converter->folder(), nullptr);
}

TEST(WidenBlocks, TheTypesAreAsLongAsTheySay) {
  for (const auto type : {BlockType::kF32, BlockType::kQ80, BlockType::kQ51, BlockType::kQ6K}) {
    const BlockShape& shape = ShapeOf(type);
    // A block exactly as long, for the sanitizers: nothing is read behind it.
    const std::vector<std::byte> block(shape.bytes);
    std::vector<float> values(shape.values, 1.0f);
    EXPECT_TRUE(WidenBlocks(type, block.data(), shape.values, values.data()));
    EXPECT_EQ(values, std::vector<float>(shape.values, 0.0f)) << shape.name;
  }
}

}  // namespace
}  // namespace gpt2
