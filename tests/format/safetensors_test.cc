// One small test per kind of damage.
#include "engine/format/safetensors.h"

#include <gtest/gtest.h>

namespace gpt2 {
namespace {

std::string ErrorOf(std::string_view header) {
  const auto result = ReadSafetensorsHeader(header);
  return result.ok() ? "" : result.error().message;
}

TEST(Safetensors, GoodHeaderIsSortedByPlace) {
  const auto result = ReadSafetensorsHeader(R"({"__metadata__": {"format": "pt"},
    "b": {"dtype": "F16", "shape": [2], "data_offsets": [4, 8]},
    "a": {"dtype": "F32", "shape": [1, 1], "data_offsets": [0, 4]}})");
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result.value().tensors[0].name, "a");
  EXPECT_EQ(result.value().tensors[1].Describe(), "F16 [2]");
  EXPECT_EQ(result.value().data_bytes(), 8u);
  EXPECT_EQ(result.value().metadata.at("format"), "pt");
}

TEST(Safetensors, HeaderLengthOutOfRange) {
  EXPECT_FALSE(ReadSafetensorsPrefix("short").ok());
  EXPECT_FALSE(ReadSafetensorsPrefix(std::string(8, '\0')).ok());
  EXPECT_FALSE(ReadSafetensorsPrefix(std::string(8, '\xff')).ok());
  EXPECT_EQ(ReadSafetensorsPrefix(std::string("\x10\0\0\0\0\0\0\0", 8)).value(), 16u);
}

TEST(Safetensors, NotJson) {
  EXPECT_NE(ErrorOf("{\"a\":").find("JSON"), std::string::npos);
}

TEST(Safetensors, OverlapAndGap) {
  EXPECT_NE(ErrorOf(R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
                        "b": {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]}})")
                .find("overlap"),
            std::string::npos);
  EXPECT_NE(ErrorOf(R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}})")
                .find("expected 0"),
            std::string::npos);
}

TEST(Safetensors, SizeThatDoesNotFitTheShape) {
  EXPECT_NE(ErrorOf(R"({"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}})").find("12"),
            std::string::npos);
}

TEST(Safetensors, HugeShapesDoNotOverflow) {
  EXPECT_NE(ErrorOf(R"({"a": {"dtype": "F32", "shape": [4294967296, 4294967296, 4294967296],
                        "data_offsets": [0, 0]}})")
                .find("too many"),
            std::string::npos);
  EXPECT_NE(
      ErrorOf(R"({"a": {"dtype": "F32", "shape": [1e300], "data_offsets": [0, 4]}})").find("shape"),
      std::string::npos);
}

TEST(Safetensors, DuplicateNames) {
  EXPECT_NE(ErrorOf(R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
                        "a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}})")
                .find("twice"),
            std::string::npos);
}

TEST(Safetensors, MissingAndMistypedFields) {
  for (const char* header :
       {R"({"a": 3})", R"({"a": {}})",
        R"({"a": {"dtype": "F32", "shape": "x", "data_offsets": [0, 4]}})",
        R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0]}})",
        R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [8, 4]}})",
        R"({"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}})", "[]"}) {
    EXPECT_FALSE(ReadSafetensorsHeader(header).ok()) << header;
  }
}

}  // namespace
}  // namespace gpt2
