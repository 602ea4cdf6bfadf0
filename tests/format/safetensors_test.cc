// Each test covers one kind of damage.
#include "engine/format/safetensors.h"

#include <gtest/gtest.h>

#include "tests/support/has.h"
#include "tests/support/least_seconds.h"
#include "tests/support/slow_builds.h"

namespace gpt2 {
namespace {

constexpr std::size_t kMost = 100;  // tensors

std::string HeaderError(std::string_view header) {
  const auto result = ReadSafetensorsHeader(header, kMost);
  return result.ok() ? "" : result.error().message;
}

TEST(Safetensors, TensorsAreSortedByOffset) {
  const auto result = ReadSafetensorsHeader(R"({"__metadata__": {"format": "pt"},
    "b": {"dtype": "F16", "shape": [2], "data_offsets": [4, 8]},
    "a": {"dtype": "F32", "shape": [1, 1], "data_offsets": [0, 4]}})",
                                            kMost);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result.value().tensors[0].name, "a");
  EXPECT_EQ(result.value().tensors[1].Describe(), "F16 [2]");
  EXPECT_EQ(result.value().tensors[1].end, 8u);
  EXPECT_EQ(result.value().metadata.at("format"), "pt");
}

TEST(Safetensors, AHeaderLengthOutOfRangeIsRefused) {
  EXPECT_FALSE(ReadSafetensorsPrefix("short").ok());
  EXPECT_FALSE(ReadSafetensorsPrefix(std::string(8, '\0')).ok());
  EXPECT_FALSE(ReadSafetensorsPrefix(std::string(8, '\xff')).ok());
  EXPECT_EQ(ReadSafetensorsPrefix(std::string("\x10\0\0\0\0\0\0\0", 8)).value(), 16u);
}

TEST(Safetensors, TheCallerLimitsTheHeaderLength) {
  const std::string prefix("\x11\0\0\0\0\0\0\0", 8);
  EXPECT_EQ(ReadSafetensorsPrefix(prefix, 17).value(), 17u);
  EXPECT_TRUE(Has(ReadSafetensorsPrefix(prefix, 16).error().message, "17 bytes, expected 2 to 16"));
}

std::string ManyTensors(std::size_t count) {
  std::string header = "{";
  for (std::size_t i = 0; i < count; ++i) {
    const std::string at = std::to_string(i), end = std::to_string(i + 1);
    header += (i ? ",\"t" : "\"t") + at + R"(": {"dtype": "U8", "shape": [1], "data_offsets": [)" +
              at + "," + end + "]}";
  }
  return header + "}";
}

TEST(Safetensors, TooManyTensorsAreRefusedBeforeTheRestIsRead) {
  EXPECT_EQ(HeaderError(ManyTensors(kMost)), "");
  EXPECT_TRUE(Has(HeaderError(ManyTensors(kMost + 1)), "more than 100 tensors"));
  const std::string cut = ManyTensors(1000).substr(0, 20'000);
  EXPECT_TRUE(Has(HeaderError(cut), "more than 100 tensors"));
}

// Sixteen times the tensors take about as long as sixteen files, not sixteen times as long.
TEST(Safetensors, TimeGrowsLinearlyWithTheNumberOfTensors) {
  const auto seconds = [](int times, std::size_t count) {
    const std::string header = ManyTensors(count);
    return testing::LeastSeconds(times,
                                 [&] { EXPECT_TRUE(ReadSafetensorsHeader(header, count).ok()); });
  };
  constexpr std::size_t kTensors = testing::kHasSanitizers ? 4'000 : 16'000;
  EXPECT_LT(seconds(1, kTensors), 8 * seconds(16, kTensors / 16));
}

TEST(Safetensors, TooManyDimensionsAreRefused) {
  std::string ones = "1";
  for (int i = 0; i < 1000; ++i) ones += ",1";
  const std::string error =
      HeaderError(R"({"a": {"dtype": "U8", "shape": [)" + ones + R"(], "data_offsets": [0, 1]}})");
  EXPECT_TRUE(Has(error, "1001 dimensions, expected at most 8"));
}

TEST(Safetensors, InvalidOrDuplicateMetadataIsRefused) {
  EXPECT_TRUE(Has(HeaderError(R"({"__metadata__": 3})"), "__metadata__"));
  EXPECT_TRUE(Has(HeaderError(R"({"__metadata__": {}, "__metadata__": {}})"), "twice"));
  EXPECT_EQ(HeaderError(R"({"__metadata__": {"format": ["pt"], "other": null}})"), "");
}

TEST(Safetensors, AnErrorAbbreviatesALongName) {
  const std::string name(1 << 20, 'x');
  EXPECT_LT(HeaderError("{\"" + name + "\": 3}").size(), 400u);
}

TEST(Safetensors, AHeaderThatIsNotJsonIsRefused) {
  EXPECT_TRUE(Has(HeaderError("{\"a\":"), "JSON"));
}

TEST(Safetensors, OverlapsAndGapsAreRefused) {
  EXPECT_TRUE(Has(HeaderError(R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
                        "b": {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]}})"),
                  "overlap"));
  EXPECT_TRUE(Has(HeaderError(R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}})"),
                  "expected 0"));
}

TEST(Safetensors, ASizeThatContradictsTheShapeIsRefused) {
  EXPECT_TRUE(
      Has(HeaderError(R"({"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}})"), "12"));
}

TEST(Safetensors, HugeShapesAreRefusedWithoutOverflow) {
  EXPECT_TRUE(
      Has(HeaderError(R"({"a": {"dtype": "F32", "shape": [4294967296, 4294967296, 4294967296],
                        "data_offsets": [0, 0]}})"),
          "too many"));
  EXPECT_TRUE(
      Has(HeaderError(R"({"a": {"dtype": "F32", "shape": [1e300], "data_offsets": [0, 4]}})"),
          "shape"));
}

TEST(Safetensors, DuplicateNamesAreRefused) {
  EXPECT_TRUE(Has(HeaderError(R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
                        "a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}})"),
                  "twice"));
  EXPECT_TRUE(Has(HeaderError(R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
                        "b": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]},
                        "a": {"dtype": "F32", "shape": [1], "data_offsets": [8, 12]}})"),
                  "\"a\" is listed twice"));
}

TEST(Safetensors, MissingAndMistypedFieldsAreRefused) {
  for (const char* header :
       {R"({"a": 3})", R"({"a": {}})",
        R"({"a": {"dtype": "F32", "shape": "x", "data_offsets": [0, 4]}})",
        R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0]}})",
        R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [8, 4]}})",
        R"({"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}})", "[]"}) {
    EXPECT_FALSE(ReadSafetensorsHeader(header, kMost).ok()) << header;
  }
}

}  // namespace
}  // namespace gpt2
