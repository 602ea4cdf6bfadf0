// Each test covers one kind of damage.
#include "engine/format/safetensors.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/support/has.h"

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

TEST(Safetensors, AnErrorAbbreviatesALongName) {
  const std::string name(1 << 20, 'x');
  EXPECT_LT(HeaderError("{\"" + name + "\": 3}").size(), 400u);
}

TEST(Safetensors, DamagedHeadersAreRefusedByName) {
  std::string ones = "1";
  for (int i = 0; i < 1000; ++i) ones += ",1";
  const auto tensor = [](const std::string& shape, const std::string& offsets) {
    return R"({"dtype": "F32", "shape": )" + shape + R"(, "data_offsets": )" + offsets + "}";
  };
  const auto one = [&](const std::string& shape, const std::string& offsets) {
    return R"({"a": )" + tensor(shape, offsets) + "}";
  };
  const std::string first = tensor("[1]", "[0, 4]"), second = tensor("[1]", "[4, 8]");
  const std::pair<std::string, const char*> damaged[] = {
      {"{\"a\":", "JSON"},
      {"[]", "expected an object"},
      {R"({"a": 3})", "expected dtype"},
      {R"({"a": {}})", "expected dtype"},
      {R"({"__metadata__": 3})", "__metadata__"},
      {R"({"__metadata__": {}, "__metadata__": {}})", "twice"},
      {one("[" + ones + "]", "[0, 4]"), "1001 dimensions, expected at most 8"},
      {one("\"x\"", "[0, 4]"), "expected dtype"},
      {one("[1]", "[0]"), "two data_offsets"},
      {one("[1]", "[8, 4]"), "data_offsets are not a range"},
      {one("[-1]", "[0, 4]"), "not a whole number"},
      {one("[1e300]", "[0, 4]"), "not a whole number"},
      {one("[4294967296, 4294967296, 4294967296]", "[0, 0]"), "too many"},
      {one("[3]", "[0, 8]"), "12"},
      {one("[1]", "[4, 8]"), "expected 0"},
      {"{\"a\": " + tensor("[2]", "[0, 8]") + ", \"b\": " + tensor("[2]", "[4, 12]") + "}",
       "overlap"},
      {"{\"a\": " + first + ", \"a\": " + second + "}", "\"a\" is listed twice"},
      {"{\"a\": " + first + ", \"b\": " + second + ", \"a\": " + tensor("[1]", "[8, 12]") + "}",
       "\"a\" is listed twice"}};
  for (const auto& [header, why] : damaged) {
    EXPECT_TRUE(Has(HeaderError(header), why)) << header.substr(0, 200);
  }
  EXPECT_EQ(HeaderError(R"({"__metadata__": {"format": ["pt"], "other": null}})"), "");
}

}  // namespace
}  // namespace gpt2
