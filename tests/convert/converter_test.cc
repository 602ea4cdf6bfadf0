#include "engine/convert/converter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "engine/convert/block_types.h"
#include "engine/format/float16.h"
#include "engine/format/weight_plan.h"
#include "engine/format/weight_reader.h"
#include "engine/model/matrix.h"
#include "engine/model/weights.h"
#include "tests/support/convert_file.h"
#include "tests/support/has.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/test_model.h"

namespace gpt2::testing {
namespace {

Result<Converted> Convert(const std::string& model, StoredWeights weights,
                          std::size_t most = 1 << 20) {
  const ModelFiles files(model);
  GPT2_ASSIGN(const auto converter, Converter::OfSafetensors(files.config, {}, weights));
  return ConvertFile(*converter, files.file, most);
}

std::unique_ptr<Weights> Load(const Converted& converted) {
  return ReadWeights(converted.folder.config, converted.file, WeightFormat::kF32);
}

// Every value, as the engine stores it in memory.
std::vector<float> ValuesOf(const Weights& weights) {
  std::vector<float> values;
  for (const TensorSpec& spec : TensorSpecs(weights.config)) {
    const auto [matrix, floats] = Bind(spec, weights);
    std::vector<float> row(spec.cols);
    for (std::size_t r = 0; r < spec.rows; ++r) {
      if (matrix != nullptr) {
        matrix->ReadRow(r, row);
      } else {
        std::copy_n(floats->data() + r * spec.cols, spec.cols, row.begin());
      }
      values.insert(values.end(), row.begin(), row.end());
    }
  }
  return values;
}

// The values of `original` in the order of ValuesOf, rounded as FORMAT.md says for `weights`.
std::vector<float> Expected(const ModelFiles& original, const Config& config,
                            StoredWeights weights) {
  FileTensors tensors;
  for (const auto& [name, tensor] : ReadFileTensors(original.file)) {
    tensors[CanonicalName(name)] = tensor;
  }
  std::vector<float> values;
  for (const TensorSpec& spec : TensorSpecs(config)) {
    const std::vector<float>& from = tensors[spec.name].values;  // empty: zeros
    const DType dtype = StoredDType(weights, spec);
    Matrix quantized = std::move(Matrix::Create(WeightFormat::kQ8, 1, spec.cols, "a row").value());
    for (std::size_t r = 0; r < spec.rows; ++r) {
      std::vector<float> row(spec.cols);
      for (std::size_t c = 0; c < spec.cols && !from.empty(); ++c) {
        row[c] = from[spec.is_conv1d() ? c * spec.rows + r : r * spec.cols + c];
        if (dtype == DType::kF16) row[c] = WidenFloat16(NarrowFloat16(row[c]).value());
      }
      if (FormatOfCodes(dtype) != nullptr) {
        quantized.SetRow(0, row);
        quantized.ReadRow(0, row);
      }
      values.insert(values.end(), row.begin(), row.end());
    }
  }
  return values;
}

TEST(Converter, AConvertedModelHoldsTheRoundedWeightsOfItsOriginal) {
  for (const std::string& model : TinyModelNames()) {
    for (const auto weights : {StoredWeights::kF32, StoredWeights::kF16, StoredWeights::kQ8}) {
      const auto converted = Convert(model, weights, 4000);
      ASSERT_TRUE(converted.ok()) << converted.error().message;
      const auto loaded = Load(converted.value());
      EXPECT_EQ(ValuesOf(*loaded), Expected(ModelFiles(model), loaded->config, weights))
          << model << " " << StoredWeightsName(weights);
    }
  }
}

// The header of a safetensors file of one more tensor than `file` has: a copy of the embedding, or
// two values of another head.
std::string WithTensor(const std::string& file, const std::string& name, const char* like) {
  auto [header, data] = SplitFile(file);
  std::string bytes(8, '\1');
  Json tensor = {{"dtype", "F32"}, {"shape", {2}}};
  if (like != nullptr) {
    tensor = header.contains(like) ? header[like] : header["transformer." + std::string(like)];
    const auto begin = tensor["data_offsets"][0].get<std::size_t>();
    bytes = data.substr(begin, tensor["data_offsets"][1].get<std::size_t>() - begin);
  }
  tensor["data_offsets"] = {data.size(), data.size() + bytes.size()};
  header[name] = tensor;
  return JoinFile(header, data + bytes);
}

TEST(Converter, AConvertedModelRepeatsTheWarningsOfItsOriginal) {
  const std::string folder = TinyModelFolder("tied");
  const std::string config = ReadTestFile(folder + "/config.json");
  const std::string file = ReadTestFile(folder + "/model.safetensors");
  const auto convert = [&](const std::string& original) {
    const auto converter =
        std::move(Converter::OfSafetensors(config, {}, StoredWeights::kQ8).value());
    auto converted = ConvertFile(*converter, original, 5000);
    EXPECT_TRUE(converted.ok()) << converted.error().message;
    return std::move(converted.value());
  };
  const Converted scored = convert(WithTensor(file, "score.weight", nullptr));
  EXPECT_EQ(ReadConfigJson(scored.folder.config).value().other_heads,
            std::vector<std::string>{"score"});
  WeightReader reader(ReadConfigJson(scored.folder.config).value());
  ASSERT_TRUE(reader.Feed(std::as_bytes(std::span(scored.file))).ok());
  ASSERT_TRUE(reader.Finish().ok());
  ASSERT_EQ(reader.warnings().size(), 1u);
  EXPECT_TRUE(Has(reader.warnings()[0], "\"score.*\""));

  // A copy of the embedding as a head is the embedding again, once it is loaded.
  const auto tied = Load(convert(WithTensor(file, "lm_head.weight", "wte.weight")));
  EXPECT_TRUE(tied->config.tie_word_embeddings);
  EXPECT_EQ(ValuesOf(*tied), ValuesOf(*Load(convert(file))));
}

TEST(Converter, LaterCallsRepeatTheFirstError) {
  const std::string folder = TinyModelFolder("tied");
  const auto converter = std::move(
      Converter::OfSafetensors(ReadTestFile(folder + "/config.json"), {}, StoredWeights::kQ8)
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

TEST(BlockTypeOf, UnsupportedTypesAreNamed) {
  EXPECT_EQ(BlockTypeOf(10).value(), BlockType::kQ2K);
  EXPECT_EQ(BlockTypeOf(18).error().message.find("type IQ3_XXS, expected one of F32, F16"), 0u);
  EXPECT_EQ(BlockTypeOf(28).error().message.find("type F64, "), 0u);
  EXPECT_EQ(BlockTypeOf(999).error().message.find("the unknown type 999, "), 0u);
}

TEST(WidenBlocks, EachTypeReadsExactlyItsBlockSize) {
  for (const auto type : {BlockType::kF32, BlockType::kQ80, BlockType::kQ51, BlockType::kQ2K,
                          BlockType::kQ3K, BlockType::kQ6K, BlockType::kIQ4NL, BlockType::kIQ4XS,
                          BlockType::kTQ10, BlockType::kTQ20}) {
    const BlockShape& shape = ShapeOf(type);
    // A block of the exact size, so that the sanitizers notice a read past its end.
    const std::vector<std::byte> block(shape.bytes);
    std::vector<float> values(shape.values, 1.0f);
    EXPECT_TRUE(WidenBlocks(type, block.data(), shape.values, values.data()));
    EXPECT_EQ(values, std::vector<float>(shape.values, 0.0f)) << shape.name;
  }
}

}  // namespace
}  // namespace gpt2::testing
