#include "engine/format/vocabulary_files.h"

#include <gtest/gtest.h>

#include <string>

namespace gpt2 {
namespace {

constexpr std::string_view kNoMerges = "#version: 0.2\n";

std::string VocabularyError(std::string_view vocab, std::string_view merges,
                            std::size_t vocab_size = 600) {
  const auto result = ReadTokenizer(vocab, merges, vocab_size);
  return result.ok() ? "" : result.error().message;
}

TEST(VocabularyFiles, ErrorsNameTheDamage) {
  constexpr std::string_view kGood = R"({"a": 0, "b": 1, "ab": 2})";
  EXPECT_EQ(VocabularyError(kGood, "#version: 0.2\na b\n"), "");
  EXPECT_NE(VocabularyError("{\"a\": 0", kNoMerges).find("vocab.json"), std::string::npos);
  EXPECT_NE(VocabularyError("[]", kNoMerges).find("expected an object, found an array"),
            std::string::npos);
  EXPECT_NE(VocabularyError("7", kNoMerges).find("expected an object, found 7"), std::string::npos);
  EXPECT_NE(VocabularyError(R"({"a": -1})", kNoMerges).find("-1"), std::string::npos);
  EXPECT_NE(VocabularyError(R"({"a": 0.5})", kNoMerges).find("0.5"), std::string::npos);
  EXPECT_NE(VocabularyError(R"({"a": "x"})", kNoMerges).find("\"x\""), std::string::npos);
  EXPECT_NE(VocabularyError(R"({"a": {}})", kNoMerges).find("\"a\" has the id an object"),
            std::string::npos);
  EXPECT_NE(VocabularyError(R"({"a": 4000000000})", kNoMerges).find("4000000000"),
            std::string::npos);
  EXPECT_NE(VocabularyError(R"({"a": 0, "b": 0})", kNoMerges).find("second token"),
            std::string::npos);
  EXPECT_NE(VocabularyError(R"({"a": 0, "a": 1})", kNoMerges).find("twice"), std::string::npos);
  EXPECT_NE(VocabularyError(kGood, "a b c\n").find("line 1"), std::string::npos);
  EXPECT_NE(VocabularyError(kGood, "a b\nab\n").find("line 2"), std::string::npos);
  EXPECT_NE(VocabularyError(kGood, "a z\n").find("\"z\""), std::string::npos);
}

TEST(VocabularyFiles, AnErrorNamesTheMissingFile) {
  EXPECT_NE(VocabularyError(R"({"a": 0})", "").find("merges.txt is missing"), std::string::npos);
  EXPECT_NE(VocabularyError("", "a b\n").find("vocab.json is missing"), std::string::npos);
}

TEST(VocabularyFiles, AnIdBeyondTheConfigsVocabularySizeIsRefused) {
  EXPECT_EQ(VocabularyError(R"({"a": 0, "b": 2})", kNoMerges, 3), "");
  EXPECT_NE(
      VocabularyError(R"({"a": 0, "b": 3})", kNoMerges, 3).find("\"b\" has the id 3, expected"),
      std::string::npos);
  EXPECT_NE(VocabularyError("{}", kNoMerges).find("no tokens"), std::string::npos);
}

TEST(VocabularyFiles, AnIdFarAboveTheNumberOfTokensIsRefused) {
  const std::string error = VocabularyError(R"({"a": 16777215})", kNoMerges, 1 << 24);
  EXPECT_NE(error.find("the id 16777215, but only 1 tokens"), std::string::npos) << error;
}

TEST(VocabularyFiles, NestedValuesAreRefusedAtAnyDepth) {
  for (const std::size_t depth : {1, 63, 64, 6000, 1'000'000}) {
    const std::string nested = std::string(depth, '[') + std::string(depth, ']');
    EXPECT_NE(VocabularyError("{\"a\": " + nested + "}", kNoMerges), "") << depth;
  }
}

TEST(VocabularyFiles, AnErrorAbbreviatesALongToken) {
  const std::string token(1 << 20, 'x');
  EXPECT_LT(VocabularyError("{\"" + token + "\": -1}", kNoMerges).size(), 400u);
  EXPECT_LT(VocabularyError(R"({"a": 0})", token + " " + token + "\n").size(), 600u);
  EXPECT_LT(VocabularyError(R"({"a": 0})", token + "\n").size(), 400u);
}

}  // namespace
}  // namespace gpt2
