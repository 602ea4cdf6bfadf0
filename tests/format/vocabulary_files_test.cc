#include "engine/format/vocabulary_files.h"

#include <gtest/gtest.h>

namespace gpt2 {
namespace {

std::string ErrorOf(std::string_view vocab, std::string_view merges) {
  const auto result = ReadTokenizer(vocab, merges);
  return result.ok() ? "" : result.error().message;
}

TEST(VocabularyFiles, EachKindOfDamageIsNamed) {
  constexpr std::string_view kGood = R"({"a": 0, "b": 1, "ab": 2})";
  EXPECT_EQ(ErrorOf(kGood, "#version: 0.2\na b\n"), "");
  EXPECT_NE(ErrorOf("{\"a\": 0", "").find("vocab.json"), std::string::npos);
  EXPECT_NE(ErrorOf("[]", "").find("an array"), std::string::npos);
  EXPECT_NE(ErrorOf(R"({"a": -1})", "").find("-1"), std::string::npos);
  EXPECT_NE(ErrorOf(R"({"a": "x"})", "").find("\"x\""), std::string::npos);
  EXPECT_NE(ErrorOf(R"({"a": 4000000000})", "").find("4000000000"), std::string::npos);
  EXPECT_NE(ErrorOf(R"({"a": 0, "b": 0})", "").find("second token"), std::string::npos);
  EXPECT_NE(ErrorOf(R"({"a": 0, "a": 1})", "").find("twice"), std::string::npos);
  EXPECT_NE(ErrorOf(kGood, "a b c\n").find("line 1"), std::string::npos);
  EXPECT_NE(ErrorOf(kGood, "a b\nab\n").find("line 2"), std::string::npos);
  EXPECT_NE(ErrorOf(kGood, "a z\n").find("\"z\""), std::string::npos);
}

}  // namespace
}  // namespace gpt2
