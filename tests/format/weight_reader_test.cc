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
#include "tests/support/test_model.h"

namespace gpt2::testing {
namespace {

struct Outcome {
  bool ok;
  std::string error;
};

Outcome Read(const std::string& config_json, std::string_view file, std::size_t feed_bytes = 4096) {
  auto config = ReadConfigJson(config_json);
  if (!config.ok()) return {false, config.error().message};
  WeightReader reader(config.value(), WeightFormat::kF32);
  auto bytes = std::as_bytes(std::span(file));
  while (!bytes.empty()) {
    const std::size_t take = std::min(feed_bytes, bytes.size());
    if (const Status status = reader.Feed(bytes.first(take)); !status.ok()) {
      return {false, status.error().message};
    }
    bytes = bytes.subspan(take);
  }
  const auto weights = reader.Finish();
  return weights.ok() ? Outcome{true, ""} : Outcome{false, weights.error().message};
}

class WeightReaderTest : public ::testing::Test {
 protected:
  std::string config = ReadTestFile(TinyModelFolder("odd-width") + "/config.json");
  std::string file = ReadTestFile(TinyModelFolder("odd-width") + "/model.safetensors");

  // The file with `from` replaced in its header by `to`, of the same length.
  std::string WithHeaderEdit(const std::string& from, const std::string& to) {
    EXPECT_EQ(from.size(), to.size());
    std::string edited = file;
    const std::size_t at = edited.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return edited.replace(at, from.size(), to);
  }
};

TEST_F(WeightReaderTest, ChunksOfAnySizeGiveTheSameWeights) {
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

TEST_F(WeightReaderTest, ATruncatedFileIsRefused) {
  EXPECT_TRUE(Read(config, file).ok);
  for (std::size_t size = 0; size < file.size(); size += size < 4096 ? 61 : 1009) {
    const Outcome outcome = Read(config, std::string_view(file).substr(0, size));
    EXPECT_FALSE(outcome.ok) << size;
    EXPECT_NE(outcome.error.find("model.safetensors"), std::string::npos);
  }
  EXPECT_FALSE(Read(config, std::string_view(file).substr(0, file.size() - 1)).ok);
}

TEST_F(WeightReaderTest, LaterCallsRepeatTheFirstError) {
  WeightReader reader(ReadConfigJson(config).value(), WeightFormat::kF32);
  file[8 + 40] = '!';  // inside the header
  const auto bytes = std::as_bytes(std::span(file));
  const Status first = reader.Feed(bytes.first(30'000));
  ASSERT_FALSE(first.ok());
  EXPECT_EQ(reader.Feed(bytes.subspan(30'000)).error().message, first.error().message);
  EXPECT_EQ(reader.Feed({}).error().message, first.error().message);
  EXPECT_EQ(reader.Finish().error().message, first.error().message);
}

TEST_F(WeightReaderTest, FinishReturnsTheWeightsOnlyOnce) {
  WeightReader reader(ReadConfigJson(config).value(), WeightFormat::kF32);
  ASSERT_TRUE(reader.Feed(std::as_bytes(std::span(file))).ok());
  ASSERT_TRUE(reader.Finish().ok());
  EXPECT_NE(reader.Finish().error().message.find("taken already"), std::string::npos);
  EXPECT_FALSE(reader.Feed(std::as_bytes(std::span(file))).ok());
}

// A safetensors file of these tensors, {name, dtype, shape, bytes}, without their data.
struct NamedTensor {
  std::string name;
  const char* dtype;
  Json shape;
  std::uint64_t bytes;
};
std::string HeaderOf(const std::vector<NamedTensor>& tensors,
                     const Json& metadata = Json::object()) {
  Json header = {{"__metadata__", metadata}};
  std::uint64_t at = 0;
  for (const NamedTensor& tensor : tensors) {
    header[tensor.name] = {{"dtype", tensor.dtype},
                           {"shape", tensor.shape},
                           {"data_offsets", {at, at + tensor.bytes}}};
    at += tensor.bytes;
  }
  const std::string text = header.dump();
  std::string prefix(8, '\0');
  for (std::size_t i = 0; i < 8; ++i)
    prefix[i] = static_cast<char>(std::uint64_t{text.size()} >> 8 * i);
  return prefix + text;
}

// One block of width 32 with all tensors that it needs; matrices have the type and the bytes of
// one value.
std::vector<NamedTensor> SmallModel(const char* dtype, std::uint64_t value_bytes, bool is_hub) {
  std::vector<NamedTensor> tensors = {{"wte.weight", dtype, {64, 32}, 64 * 32 * value_bytes},
                                      {"wpe.weight", "F32", {16, 32}, 16 * 32 * 4},
                                      {"ln_f.weight", "F32", {32}, 32 * 4}};
  for (const char* norm : {"h.0.ln_1.weight", "h.0.ln_2.weight"}) {
    tensors.push_back({norm, "F32", {32}, 32 * 4});
  }
  const auto conv1d = [&](const char* name, std::uint64_t out, std::uint64_t in) {
    const Json shape = is_hub ? Json{in, out} : Json{out, in};
    tensors.push_back({name, dtype, shape, in * out * value_bytes});
  };
  conv1d("h.0.attn.c_attn.weight", 96, 32);
  conv1d("h.0.attn.c_proj.weight", 32, 32);
  conv1d("h.0.mlp.c_fc.weight", 128, 32);
  conv1d("h.0.mlp.c_proj.weight", 32, 128);
  return tensors;
}

Json SmallConfig(const char* weights = nullptr) {
  Json small = {
      {"n_embd", 32}, {"n_head", 1}, {"n_layer", 1}, {"n_positions", 16}, {"vocab_size", 64}};
  if (weights) small["quantization_config"] = {{"quant_method", "gpt2-wasm"}, {"weights", weights}};
  return small;
}

std::string DataOf(const std::vector<NamedTensor>& tensors) {
  std::uint64_t bytes = 0;
  for (const NamedTensor& tensor : tensors) bytes += tensor.bytes;
  return std::string(static_cast<std::size_t>(bytes), '\0');
}

TEST(WeightReader, AHubFileMayOmitBiases) {
  const auto tensors = SmallModel("F32", 4, /*is_hub=*/true);
  EXPECT_EQ(Read(SmallConfig().dump(), HeaderOf(tensors) + DataOf(tensors)).error, "");
}

TEST(WeightReader, ScalesInAHubFileAreRefused) {
  auto tensors = SmallModel("F32", 4, /*is_hub=*/true);
  tensors.push_back({"wte.weight_scale", "BF16", {64, 1}, 128});
  EXPECT_NE(Read(SmallConfig().dump(), HeaderOf(tensors) + DataOf(tensors))
                .error.find("\"wte.weight_scale\" does not belong"),
            std::string::npos);
}

TEST(WeightReader, AFileMustMatchTheWeightFormatOfItsConfig) {
  const Json metadata = {{"format", "gpt2-wasm"}, {"version", "1"}};
  auto f16 = SmallModel("F16", 2, /*is_hub=*/false);
  auto f32 = SmallModel("F32", 4, /*is_hub=*/false);
  auto q8 = SmallModel("I8", 1, /*is_hub=*/false);
  for (std::size_t i = q8.size(); i-- > 0;) {
    if (std::string(q8[i].dtype) != "I8") continue;
    const std::uint64_t rows = q8[i].shape[0], groups = q8[i].shape[1].get<std::uint64_t>() / 32;
    q8.insert(q8.begin() + static_cast<std::ptrdiff_t>(i) + 1,
              {q8[i].name + "_scale", "BF16", {rows, groups}, rows * groups * 2});
  }
  const auto error = [&](const char* weights, const std::vector<NamedTensor>& tensors,
                         const Json& about) {
    return Read(SmallConfig(weights).dump(), HeaderOf(tensors, about) + DataOf(tensors)).error;
  };
  EXPECT_EQ(error("f16", f16, metadata), "");
  EXPECT_EQ(error("f32", f32, metadata), "");
  EXPECT_EQ(error("q8", q8, metadata), "");
  EXPECT_NE(error("f16", q8, metadata).find("is I8 [64, 32], config.json requires F16"),
            std::string::npos);
  EXPECT_NE(error("f16", f32, metadata).find("requires F16"), std::string::npos);
  EXPECT_NE(error("q8", f16, metadata).find("requires I8"), std::string::npos);
  EXPECT_NE(error("q4", q8, metadata).find("version 1, but config.json says \"q4\""),
            std::string::npos);
  const Json second = {{"format", "gpt2-wasm"}, {"version", "2"}};
  EXPECT_NE(error("q8", q8, second).find("version 2, but config.json says \"q8\""),
            std::string::npos);
  EXPECT_NE(error("q4", q8, second).find("requires U8 [96, 16]"), std::string::npos);
  q8.erase(q8.begin() + 1);
  EXPECT_NE(error("q8", q8, metadata).find("\"wte.weight_scale\" is missing"), std::string::npos);
  f16.insert(f16.begin() + 1, {"wte.weight_scale", "BF16", {64, 1}, 128});
  EXPECT_NE(error("f16", f16, metadata).find("\"wte.weight_scale\" has no codes"),
            std::string::npos);
}

TEST(WeightReader, AHeaderLargerThanItsModelNeedsIsRefused) {
  std::string prefix("\0\0\0\5\0\0\0\0", 8);  // 80 MB
  EXPECT_NE(Read(SmallConfig().dump(), prefix).error.find("header length is 83886080 bytes"),
            std::string::npos);
  auto tensors = SmallModel("F32", 4, /*is_hub=*/true);
  for (int i = 0; i < 100; ++i)
    tensors.push_back({"h." + std::to_string(i) + ".attn.bias", "U8", {1}, 1});
  EXPECT_NE(Read(SmallConfig().dump(), HeaderOf(tensors)).error.find("more than"),
            std::string::npos);
}

// The result of reading a file whose wte and lm_head begin with the given values.
struct TiedOutcome {
  bool is_tied;
  std::size_t parameters;
  std::vector<std::string> warnings;
  float first_of_head;
};
TiedOutcome ReadTied(const std::vector<NamedTensor>& tensors, float embedding, float head,
                     WeightFormat format) {
  std::string file = HeaderOf(tensors);
  for (const NamedTensor& tensor : tensors) {
    std::string data(static_cast<std::size_t>(tensor.bytes), '\0');
    if (tensor.name == "wte.weight") std::memcpy(data.data(), &embedding, sizeof embedding);
    if (tensor.name == "lm_head.weight") std::memcpy(data.data(), &head, sizeof head);
    file += data;
  }
  WeightReader reader(ReadConfigJson(SmallConfig().dump()).value(), format);
  const Status fed = reader.Feed(std::as_bytes(std::span(file)));
  EXPECT_TRUE(fed.ok()) << fed.error().message;
  const auto weights = std::move(reader.Finish().value());
  std::vector<float> row(32);
  weights->head().ReadRow(0, row);
  return {weights->config.tie_word_embeddings, weights->parameter_count, reader.warnings(), row[0]};
}

TEST(WeightReader, AHeadEqualToTheEmbeddingIsTiedAndCountedOnce) {
  for (const WeightFormat format : {WeightFormat::kF32, WeightFormat::kQ8}) {
    const auto without = SmallModel("F32", 4, /*is_hub=*/true);
    auto with = without;
    with.insert(with.begin(), {"lm_head.weight", "F32", {64, 32}, 64 * 32 * 4});
    const TiedOutcome outcome = ReadTied(with, 2, 2, format);
    EXPECT_TRUE(outcome.is_tied);
    EXPECT_EQ(outcome.parameters, ReadTied(without, 2, 2, format).parameters);
    EXPECT_EQ(outcome.warnings, std::vector<std::string>());
  }
}

TEST(WeightReader, AHeadThatDiffersFromTheEmbeddingIsUsedWithAWarning) {
  auto tensors = SmallModel("F32", 4, /*is_hub=*/true);
  tensors.push_back({"lm_head.weight", "F32", {64, 32}, 64 * 32 * 4});
  const TiedOutcome outcome = ReadTied(tensors, 2, 3, WeightFormat::kF32);
  EXPECT_FALSE(outcome.is_tied);
  EXPECT_EQ(outcome.first_of_head, 3);
  ASSERT_EQ(outcome.warnings.size(), 1u);
  EXPECT_NE(outcome.warnings[0].find("lm_head.weight differs from wte.weight"), std::string::npos);
}

TEST(WeightReader, AHeadReplacesAMissingEmbedding) {
  auto tensors = SmallModel("F32", 4, /*is_hub=*/true);
  tensors[0].name = "lm_head.weight";
  const TiedOutcome outcome = ReadTied(tensors, 2, 3, WeightFormat::kF32);
  EXPECT_TRUE(outcome.is_tied);
  EXPECT_EQ(outcome.first_of_head, 3);
}

TEST(WeightReader, UnusedHeadsAreNamedInOneWarning) {
  auto tensors = SmallModel("F32", 4, /*is_hub=*/true);
  tensors.push_back({"score.weight", "F32", {2, 32}, 256});
  tensors.push_back({"v_head.summary.bias", "F32", {1}, 4});
  tensors.push_back({"v_head.summary.weight", "F64", {1, 32}, 256});
  const TiedOutcome outcome = ReadTied(tensors, 2, 2, WeightFormat::kF32);
  EXPECT_EQ(outcome.warnings,
            std::vector<std::string>{"model.safetensors: not used, because the language model "
                                     "does not need it: \"score.*\", \"v_head.*\""});
}

// 1 + 2^-12 is not a float16. A folder of floats gives the same bits as its converted form.
TEST(WeightReader, AnEightBitModelRoundsPositionsToFloat16) {
  const auto tensors = SmallModel("F32", 4, /*is_hub=*/true);
  std::string file = HeaderOf(tensors);
  for (const NamedTensor& tensor : tensors) {
    std::string data(static_cast<std::size_t>(tensor.bytes), '\0');
    const float value = 1 + 0x1p-12f;
    if (tensor.name == "wpe.weight") std::memcpy(data.data(), &value, sizeof value);
    file += data;
  }
  for (const WeightFormat format : {WeightFormat::kF32, WeightFormat::kQ8}) {
    WeightReader reader(ReadConfigJson(SmallConfig().dump()).value(), format);
    ASSERT_TRUE(reader.Feed(std::as_bytes(std::span(file))).ok());
    EXPECT_EQ(reader.Finish().value()->wpe.data()[0],
              format == WeightFormat::kF32 ? 1 + 0x1p-12f : 1.0f);
  }
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
    const bool is_q8 = weights[0] == 'q';
    const std::uint64_t value_bytes = is_q8 ? 1 : weights[1] == '1' ? 2 : 4;
    auto tensors = SmallModel(is_q8               ? "I8"
                              : weights[1] == '1' ? "F16"
                                                  : "F32",
                              value_bytes, /*is_hub=*/false);
    constexpr std::uint64_t kVocabulary = 1 << 24;
    tensors[0].shape[0] = kVocabulary;
    tensors[0].bytes = kVocabulary * 32 * value_bytes;
    if (is_q8) {
      for (std::size_t i = tensors.size(); i-- > 0;) {
        if (std::string(tensors[i].dtype) != "I8") continue;
        const std::uint64_t rows = tensors[i].shape[0];
        const std::uint64_t groups = tensors[i].shape[1].get<std::uint64_t>() / 32;
        tensors.insert(tensors.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                       {tensors[i].name + "_scale", "BF16", {rows, groups}, rows * groups * 2});
      }
    }
    Json large = SmallConfig(weights);
    large["vocab_size"] = kVocabulary;
    const std::string start =
        HeaderOf(tensors, {{"format", "gpt2-wasm"}, {"version", "1"}}) + std::string(1 << 20, '\0');
    WeightReader reader(ReadConfigJson(large.dump()).value(), WeightFormat::kF32);
    const std::size_t before = ResidentBytes();
    const Status fed = reader.Feed(std::as_bytes(std::span(start)));
    EXPECT_TRUE(fed.ok()) << fed.error().message;
    EXPECT_LT(ResidentBytes(), before + (std::size_t{64} << 20)) << weights;
  }
}
#endif

TEST_F(WeightReaderTest, BytesAfterTheEndAreRefused) {
  EXPECT_NE(Read(config, file + "x").error.find("follow"), std::string::npos);
}

TEST_F(WeightReaderTest, MissingUnknownAndMisshapenTensorsAreNamed) {
  EXPECT_NE(
      Read(config, WithHeaderEdit("\"ln_f.weight\"", "\"ln_f.wrong!\"")).error.find("ln_f.wrong!"),
      std::string::npos);
  Json other = Json::parse(config);
  other["n_layer"] = 4;
  EXPECT_NE(Read(other.dump(), file).error.find("h.3"), std::string::npos);
  other = Json::parse(config);
  other["vocab_size"] = 34;
  const std::string error = Read(other.dump(), file).error;
  EXPECT_NE(error.find("wte.weight"), std::string::npos);
  EXPECT_NE(error.find("34"), std::string::npos);
  EXPECT_NE(error.find("33"), std::string::npos);
}

TEST_F(WeightReaderTest, ValuesThatAreNotFiniteAreRefused) {
  const float nan = NAN;
  std::memcpy(file.data() + file.size() - sizeof nan, &nan, sizeof nan);
  EXPECT_NE(Read(config, file).error.find("not finite"), std::string::npos);
}

TEST_F(WeightReaderTest, AConfigOfAnotherFormatIsRefused) {
  Json converted = Json::parse(config);
  converted["quantization_config"] = {{"quant_method", "gpt2-wasm"}, {"weights", "q8"}};
  EXPECT_NE(Read(converted.dump(), file).error.find("different models"), std::string::npos);
}

TEST_F(WeightReaderTest, BFloat16IsReadAsTheUpperHalfOfAFloat) {
  // Halves each tensor: the file keeps the upper half of each value.
  std::uint64_t size = 0;
  std::memcpy(&size, file.data(), sizeof size);
  Json header = Json::parse(file.substr(8, static_cast<std::size_t>(size)));
  for (auto& [name, tensor] : header.items()) {
    if (!tensor.contains("dtype")) continue;
    tensor["dtype"] = "BF16";
    for (Json& offset : tensor["data_offsets"]) offset = offset.get<std::size_t>() / 2;
  }
  std::string text = header.dump();
  std::string narrowed(8, '\0');
  const std::uint64_t text_size = text.size();
  std::memcpy(narrowed.data(), &text_size, sizeof text_size);
  narrowed += text;
  for (std::size_t at = 8 + static_cast<std::size_t>(size); at < file.size(); at += 4) {
    narrowed += file.substr(at + 2, 2);
  }
  auto parsed = ReadConfigJson(config);
  WeightReader reader(parsed.value(), WeightFormat::kF32);
  ASSERT_TRUE(reader.Feed(std::as_bytes(std::span(narrowed))).ok());
  const auto weights = std::move(reader.Finish().value());
  const auto exact = LoadWeights(TinyModelFolder("odd-width"), WeightFormat::kF32);
  std::vector<float> a(20), b(20);
  weights->wte.ReadRow(7, a);
  exact->wte.ReadRow(7, b);
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(a[i]), std::bit_cast<std::uint32_t>(b[i]) & 0xffff0000u);
  }
}

// The sanitizers report a read out of bounds.
TEST_F(WeightReaderTest, DamagedFilesNeverReadOutOfBounds) {
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
    const Outcome outcome =
        Read(config, damaged, 1 + static_cast<std::size_t>(random.Next() % 9999));
    EXPECT_NE(outcome.ok, !outcome.error.empty());
  }
}

}  // namespace
}  // namespace gpt2::testing
