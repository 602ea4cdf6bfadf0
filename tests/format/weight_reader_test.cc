#include "engine/format/weight_reader.h"

#include <gtest/gtest.h>

#ifdef __linux__
#include <unistd.h>
#endif

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>

#include "engine/base/random.h"
#include "engine/text/quoted.h"
#include "tests/support/has.h"
#include "tests/support/small_model.h"
#include "tests/support/test_model.h"

namespace gpt2::testing {
namespace {

// A model as its publisher stores it, for the converter, and in converted forms, for the reader.
class EachReader : public ::testing::TestWithParam<const char*> {
 protected:
  static ModelFiles Files(const std::string& weights) {
    const ModelFiles hub("odd-width");
    if (weights == "hub") return hub;
    return AsConverted(hub, weights == "f32" ? StoredWeights::kF32 : StoredWeights::kQ4);
  }
  const ModelFiles files = Files(GetParam());
  const std::string& config = files.config;
  std::string file = files.file;

  // The file with `from` replaced in its header by `to`, of the same length.
  std::string WithHeaderEdit(const std::string& from, const std::string& to) {
    EXPECT_EQ(from.size(), to.size());
    std::string edited = file;
    const std::size_t at = edited.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return edited.replace(at, from.size(), to);
  }
};

INSTANTIATE_TEST_SUITE_P(Forms, EachReader, ::testing::Values("hub", "f32", "q4"));

TEST(WeightReader, ChunksOfAnySizeGiveTheSameWeights) {
  const std::string folder = TinyModelFolder("untied-bias");
  const auto whole = LoadWeights(folder, WeightFormat::kF32);
  EXPECT_EQ(whole->parameter_count, 114657u);
  for (const std::size_t piece : {1, 7, 1000, 65536}) {
    const auto weights = LoadWeights(folder, WeightFormat::kF32, piece);
    std::vector<float> a(64), b(64);
    for (std::size_t row = 0; row < 97; ++row) {
      whole->lm_head.ReadRow(row, a);
      weights->lm_head.ReadRow(row, b);
      EXPECT_EQ(a, b);
    }
  }
}

TEST_P(EachReader, ATruncatedFileIsRefused) {
  EXPECT_EQ(ReadError(config, file), "");
  for (std::size_t size = 0; size < file.size(); size += size < 4096 ? 61 : 1009) {
    const std::string error = ReadError(config, std::string_view(file).substr(0, size));
    EXPECT_TRUE(Has(error, "model.safetensors")) << size;
  }
  EXPECT_NE(ReadError(config, std::string_view(file).substr(0, file.size() - 1)), "");
}

TEST(WeightReader, LaterCallsRepeatTheFirstError) {
  auto [config, file] = AsConverted(ModelFiles("odd-width"));
  WeightReader reader(ReadConfigJson(config).value());
  file[8 + 40] = '!';  // inside the header
  const auto bytes = std::as_bytes(std::span(file));
  const Status first = reader.Feed(bytes.first(10'000));
  ASSERT_FALSE(first.ok());
  EXPECT_EQ(reader.Feed(bytes.subspan(10'000)).error().message, first.error().message);
  EXPECT_EQ(reader.Feed({}).error().message, first.error().message);
  EXPECT_EQ(reader.Finish().error().message, first.error().message);
}

TEST(WeightReader, FinishReturnsTheWeightsOnlyOnce) {
  const auto [config, file] = AsConverted(ModelFiles("odd-width"));
  WeightReader reader(ReadConfigJson(config).value());
  ASSERT_TRUE(reader.Feed(std::as_bytes(std::span(file))).ok());
  ASSERT_TRUE(reader.Finish().ok());
  EXPECT_TRUE(Has(reader.Finish().error().message, "taken already"));
  EXPECT_FALSE(reader.Feed(std::as_bytes(std::span(file))).ok());
}

// One more tensor, or one in place of the first, the embedding.
TEST(Converter, TensorsThatDoNotFitTheModelAreRefusedByName) {
  struct Row {
    NamedTensor tensor;
    ErrorCode code;
    const char* part;
  };
  const Row rows[] = {
      {{"transformer.h.0.crossattention.c_attn.weight", "F32", {2}, 8},
       ErrorCode::kUnsupported,
       "cross-attention"},
      {{"h.0.crossattention.q_attn.bias", "F32", {2}, 8},
       ErrorCode::kUnsupported,
       "cross-attention"},
      {{"h.0.ln_cross_attn.weight", "F32", {2}, 8}, ErrorCode::kUnsupported, "cross-attention"},
      {{"scores.weight", "F32", {2}, 8}, ErrorCode::kCorrupt, "does not belong"},
      {{"wte.weight_scale", "BF16", {64, 1}, 128},
       ErrorCode::kCorrupt,
       "\"wte.weight_scale\" does not belong"},
      // Doubles from a hub are unsupported; a shape that differs from config.json is damage.
      {{"wte.weight", "F64", {64, 32}, 16384},
       ErrorCode::kUnsupported,
       "requires F32, F16 or BF16"},
      {{"wte.weight", "F64", {32, 64}, 16384}, ErrorCode::kCorrupt, "is \"F64\" [32, 64]"}};
  for (const Row& row : rows) {
    auto tensors = SmallModel("hub");
    if (row.tensor.name == tensors[0].name) tensors.erase(tensors.begin());
    tensors.push_back(row.tensor);
    const std::string header = HeaderOf(tensors);
    const auto converter = std::move(
        Converter::OfSafetensors(SmallConfig("hub").dump(), {}, StoredWeights::kQ8).value());
    const auto converted = ConvertFile(*converter, header);
    ASSERT_FALSE(converted.ok()) << row.tensor.name;
    EXPECT_EQ(converted.error().code, row.code) << converted.error().message;
    EXPECT_TRUE(Has(converted.error().message, row.part));
    EXPECT_TRUE(Has(converted.error().message, "model.safetensors"));
  }
}

// A converted file has no tensors that are not used.
TEST(WeightReader, TensorsThatAreNoParametersAreRefusedByName) {
  for (const char* name :
       {"h.0.attn.bias", "score.weight", "h.0.ln_cross_attn.weight", "x_scale"}) {
    auto tensors = SmallModel("q8");
    tensors.push_back({name, "F32", {2}, 8});
    EXPECT_TRUE(Has(ReadError(SmallConfig("q8").dump(), HeaderOf(tensors, SmallMetadata("q8"))),
                    Quoted(name) + " does not belong to a GPT-2"));
  }
}

TEST(WeightReader, AFileMustMatchTheWeightFormatOfItsConfig) {
  const Json metadata = SmallMetadata("q8");
  auto f16 = SmallModel("f16"), f32 = SmallModel("f32"), q8 = SmallModel("q8");
  const auto error = [&](const char* weights, const std::vector<NamedTensor>& tensors,
                         const Json& about) {
    return ReadError(SmallConfig(weights).dump(), HeaderOf(tensors, about) + DataOf(tensors));
  };
  EXPECT_EQ(error("f16", f16, metadata), "");
  EXPECT_EQ(error("f32", f32, metadata), "");
  EXPECT_EQ(error("q8", q8, metadata), "");
  EXPECT_TRUE(Has(error("f16", q8, metadata), "is I8 [64, 32], config.json requires F16"));
  EXPECT_TRUE(Has(error("f16", f32, metadata), "requires F16"));
  EXPECT_TRUE(Has(error("q8", f16, metadata), "requires I8"));
  EXPECT_TRUE(Has(error("q8", q8, Json::object()), "different models"));
  EXPECT_TRUE(Has(error("hub", f32, metadata), "config.json has no quantization_config"));
  EXPECT_TRUE(Has(error("q4", q8, metadata), "version 1, but config.json says \"q4\""));
  const Json second = SmallMetadata("q4");
  EXPECT_TRUE(Has(error("q8", q8, second), "version 2, but config.json says \"q8\""));
  EXPECT_TRUE(Has(error("q4", q8, second), "requires U8 [96, 16]"));
  q8.erase(q8.begin() + 1);
  EXPECT_TRUE(Has(error("q8", q8, metadata), "\"wte.weight_scale\" is missing"));
  f16.insert(f16.begin() + 1, {"wte.weight_scale", "BF16", {64, 1}, 128});
  EXPECT_TRUE(Has(error("f16", f16, metadata), "\"wte.weight_scale\" has no codes"));
}

TEST(WeightReader, AHeaderLargerThanItsModelNeedsIsRefused) {
  std::string prefix("\0\0\0\5\0\0\0\0{", 9);  // 80 MB
  for (const char* weights : {"hub", "q8"}) {
    EXPECT_TRUE(
        Has(ReadError(SmallConfig(weights).dump(), prefix), "header length is 83886080 bytes"));
  }
  auto tensors = SmallModel("hub");
  for (int i = 0; i < 100; ++i)
    tensors.push_back({"h." + std::to_string(i) + ".attn.bias", "U8", {1}, 1});
  for (const char* weights : {"hub", "f32"}) {
    EXPECT_TRUE(Has(ReadError(SmallConfig(weights).dump(), HeaderOf(tensors)), "more than"));
  }
}

TEST(WeightReader, ScalesAndCodesOutsideTheirRangeAreRefusedByName) {
  // The error of a model of zeros, except for `bytes` in `tensor`, from `first` on.
  const auto error = [](const char* weights, const char* tensor, std::size_t first,
                        const std::string& bytes) {
    const auto tensors = SmallModel(weights);
    return ReadError(SmallConfig(weights).dump(),
                     HeaderOf(tensors, SmallMetadata(weights)) +
                         DataOf(tensors, tensor, std::string(first, '\0') + bytes));
  };
  const auto scale_error = [&](const char* weights, const char* tensor, std::size_t index,
                               float scale) {
    const auto bits = std::bit_cast<std::uint32_t>(scale);  // bfloat16 is the upper half
    return error(weights, tensor, 2 * index,
                 {static_cast<char>(bits >> 16 & 0xff), static_cast<char>(bits >> 24)});
  };
  constexpr const char* kScales = "h.0.mlp.c_proj.weight_scale";  // [32, 4]
  EXPECT_EQ(scale_error("q8", kScales, 0, 1.0f), "");
  for (const std::size_t index : {0, 1, 63, 127}) {
    EXPECT_TRUE(Has(scale_error("q8", kScales, index, -0.5f), "negative")) << index;
    for (const float scale : {INFINITY, -INFINITY, NAN}) {
      const std::string refusal = scale_error("q8", kScales, index, scale);
      EXPECT_TRUE(Has(refusal, "not finite"));
      EXPECT_TRUE(Has(refusal, kScales));
    }
  }
  // Only 4-bit scales may be negative. The embedding of a 4-bit model is an 8-bit matrix.
  EXPECT_EQ(scale_error("q4", kScales, 5, -0.5f), "");
  EXPECT_TRUE(Has(scale_error("q4", kScales, 5, -INFINITY), "not finite"));
  EXPECT_TRUE(Has(scale_error("q4", "wte.weight_scale", 5, -0.5f), "negative"));
  for (std::size_t at = 0; at < 32; ++at) {
    EXPECT_TRUE(Has(error("q8", "wte.weight", 32 * 5 + at, "\x80"), "row 5: code -128")) << at;
  }
  EXPECT_EQ(error("q8", "wte.weight", 32, "\x81\x7f\x01\xff\x7f\x81\x81\x01"), "");
}

std::string_view BytesOf(const float& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// The result of reading a file whose wte and lm_head begin with the given values.
struct TiedOutcome {
  bool is_tied;
  std::size_t parameters;
  std::vector<std::string> warnings;
  float first_of_head;
};
TiedOutcome ReadTied(const std::vector<NamedTensor>& tensors, float embedding, float head,
                     StoredWeights format) {
  std::string file = HeaderOf(tensors);
  for (const NamedTensor& tensor : tensors) {
    const float& first = tensor.name == "lm_head.weight" ? head : embedding;
    const bool is_matrix = tensor.name == "lm_head.weight" || tensor.name == "wte.weight";
    file += DataOf({tensor}, is_matrix ? tensor.name : "", BytesOf(first));
  }
  const ModelFiles converted = AsConverted({SmallConfig("hub").dump(), file}, format);
  WeightReader reader(ReadConfigJson(converted.config).value());
  const Status fed = reader.Feed(std::as_bytes(std::span(converted.file)));
  EXPECT_TRUE(fed.ok()) << fed.error().message;
  const auto weights = std::move(reader.Finish().value());
  std::vector<float> row(32);
  weights->head().ReadRow(0, row);
  return {weights->config.tie_word_embeddings, weights->parameter_count, reader.warnings(), row[0]};
}

TEST(WeightReader, AHeadEqualToTheEmbeddingIsTiedAndCountedOnce) {
  for (const StoredWeights format : kConvertedWeights) {
    const auto without = SmallModel("hub");
    auto with = without;
    with.insert(with.begin(), {"lm_head.weight", "F32", {64, 32}, 64 * 32 * 4});
    const TiedOutcome outcome = ReadTied(with, 2, 2, format);
    EXPECT_TRUE(outcome.is_tied);
    EXPECT_EQ(outcome.parameters, ReadTied(without, 2, 2, format).parameters);
    EXPECT_EQ(outcome.warnings, std::vector<std::string>());
  }
}

TEST(WeightReader, AHeadThatDiffersFromTheEmbeddingIsUsedWithAWarning) {
  auto tensors = SmallModel("hub");
  tensors.push_back({"lm_head.weight", "F32", {64, 32}, 64 * 32 * 4});
  const TiedOutcome outcome = ReadTied(tensors, 2, 3, StoredWeights::kF32);
  EXPECT_FALSE(outcome.is_tied);
  EXPECT_EQ(outcome.first_of_head, 3);
  ASSERT_EQ(outcome.warnings.size(), 1u);
  EXPECT_TRUE(Has(outcome.warnings[0], "lm_head.weight differs from wte.weight"));
}

TEST(WeightReader, AHeadReplacesAMissingEmbedding) {
  auto tensors = SmallModel("hub");
  tensors[0].name = "lm_head.weight";
  const TiedOutcome outcome = ReadTied(tensors, 2, 3, StoredWeights::kF32);
  EXPECT_TRUE(outcome.is_tied);
  EXPECT_EQ(outcome.first_of_head, 3);
}

TEST(WeightReader, MasksAreSkippedAndUnusedHeadsAreNamedInOneWarning) {
  auto tensors = SmallModel("hub");
  for (const char* name : {"score.weight", "v_head.summary.bias", "v_head.summary.weight",
                           "transformer.h.0.attn.bias", "h.0.attn.masked_bias", "classifier.bias",
                           "qa_outputs.weight", "multiple_choice_head.summary.weight"}) {
    tensors.push_back({name, "F64", {1, 32}, 256});
  }
  const TiedOutcome outcome = ReadTied(tensors, 2, 2, StoredWeights::kF32);
  EXPECT_EQ(outcome.warnings,
            std::vector<std::string>{
                "model.safetensors: not used, because the language model does not need it: "
                "\"score.*\", \"v_head.*\", \"classifier.*\", \"qa_outputs.*\", "
                "\"multiple_choice_head.*\""});
}

#ifdef __linux__
std::size_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t pages = 0, resident = 0;
  statm >> pages >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// The header announces 8 GiB of embeddings, but only their first bytes follow.
TEST(WeightReader, MemoryIsAllocatedForReceivedDataOnly) {
  for (const char* weights : {"f16", "q8", "f32"}) {
    constexpr std::uint64_t kVocabulary = 1 << 24;
    const auto tensors = SmallModel(weights, kVocabulary);
    Json large = SmallConfig(weights);
    large["vocab_size"] = kVocabulary;
    const std::string start =
        HeaderOf(tensors, SmallMetadata(weights)) + std::string(1 << 20, '\0');
    WeightReader reader(ReadConfigJson(large.dump()).value());
    const std::size_t before = ResidentBytes();
    const Status fed = reader.Feed(std::as_bytes(std::span(start)));
    EXPECT_TRUE(fed.ok()) << fed.error().message;
    EXPECT_LT(ResidentBytes(), before + (std::size_t{64} << 20)) << weights;
  }
}
#endif

TEST_P(EachReader, BytesAfterTheEndAreRefused) {
  EXPECT_TRUE(Has(ReadError(config, file + "x"), "follow"));
}

TEST_P(EachReader, MissingUnknownAndMisshapenTensorsAreNamed) {
  EXPECT_TRUE(
      Has(ReadError(config, WithHeaderEdit("\"ln_f.weight\"", "\"ln_f.wrong!\"")), "ln_f.wrong!"));
  auto tensors = SmallModel(GetParam());
  std::erase_if(tensors, [](const NamedTensor& tensor) { return tensor.name == "ln_f.weight"; });
  const bool is_hub = GetParam() == std::string("hub");
  const Json metadata = is_hub ? Json::object() : SmallMetadata(GetParam());
  EXPECT_TRUE(Has(ReadError(SmallConfig(GetParam()).dump(), HeaderOf(tensors, metadata)),
                  "\"ln_f.weight\" is missing, expected [32]"));
  Json other = Json::parse(config);
  other["n_layer"] = 4;
  EXPECT_TRUE(Has(ReadError(other.dump(), file), "h.3"));
  other = Json::parse(config);
  other["vocab_size"] = 34;
  const std::string error = ReadError(other.dump(), file);
  EXPECT_TRUE(Has(error, "wte.weight"));
  EXPECT_TRUE(Has(error, "34"));
  EXPECT_TRUE(Has(error, "33"));
}

TEST_P(EachReader, ValuesThatAreNotFiniteAreRefused) {
  const float nan = NAN;
  std::memcpy(file.data() + file.size() - sizeof nan, &nan, sizeof nan);
  EXPECT_TRUE(Has(ReadError(config, file), "not finite"));
}

TEST(Converter, AValueThatIsTooLargeForItsFormIsRefusedByName) {
  const auto error = [](const char* tensor, float value, StoredWeights weights) {
    const auto tensors = SmallModel("hub");
    return ConvertError(SmallConfig("hub").dump(),
                        HeaderOf(tensors) + DataOf(tensors, tensor, BytesOf(value)), 4096, weights);
  };
  for (const StoredWeights weights : {StoredWeights::kF16, StoredWeights::kQ8}) {
    EXPECT_TRUE(Has(error("wpe.weight", 7e4f, weights),
                    "model.safetensors: tensor \"wpe.weight\" has the value 70000"));
  }
  EXPECT_EQ(error("wpe.weight", 7e4f, StoredWeights::kF32), "");
  EXPECT_EQ(error("wte.weight", 7e4f, StoredWeights::kQ8), "");
}

// The sanitizers report a read out of bounds.
TEST_P(EachReader, DamagedFilesNeverReadOutOfBounds) {
  constexpr std::uint64_t kSeed = 7;
  Random random(kSeed);
  RecordProperty("seed", static_cast<int>(kSeed));
  std::uint64_t header_size = 0;
  std::memcpy(&header_size, file.data(), sizeof header_size);
  for (int round = 0; round < 400; ++round) {
    std::string damaged = file;
    for (std::uint64_t edits = 1 + random.Next() % 4; edits > 0; --edits) {
      const std::size_t at = static_cast<std::size_t>(random.Next() % (8 + header_size));
      const char digits[] = "0123456789,[]{}\":-e";
      damaged[at] = random.Next() % 2 ? digits[random.Next() % (sizeof digits - 1)]
                                      : static_cast<char>(random.Next());
    }
    ReadError(config, damaged, 1 + static_cast<std::size_t>(random.Next() % 9999));
  }
}

}  // namespace
}  // namespace gpt2::testing
