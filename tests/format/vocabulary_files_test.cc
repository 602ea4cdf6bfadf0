#include "engine/format/vocabulary_files.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/has.h"

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
  EXPECT_TRUE(Has(VocabularyError("{\"a\": 0", kNoMerges), "vocab.json"));
  EXPECT_TRUE(Has(VocabularyError("[]", kNoMerges), "expected an object, found an array"));
  EXPECT_TRUE(Has(VocabularyError("7", kNoMerges), "expected an object, found 7"));
  EXPECT_TRUE(Has(VocabularyError(R"({"a": -1})", kNoMerges), "-1"));
  EXPECT_TRUE(Has(VocabularyError(R"({"a": 0.5})", kNoMerges), "0.5"));
  EXPECT_TRUE(Has(VocabularyError(R"({"a": "x"})", kNoMerges), "\"x\""));
  EXPECT_TRUE(Has(VocabularyError(R"({"a": {}})", kNoMerges), "\"a\" has the id an object"));
  EXPECT_TRUE(Has(VocabularyError(R"({"a": 4000000000})", kNoMerges), "4000000000"));
  EXPECT_TRUE(Has(VocabularyError(R"({"a": 0, "b": 0})", kNoMerges), "second token"));
  EXPECT_TRUE(Has(VocabularyError(R"({"a": 0, "a": 1})", kNoMerges), "twice"));
  EXPECT_TRUE(Has(VocabularyError(kGood, "a b c\n"), "line 1"));
  EXPECT_TRUE(Has(VocabularyError(kGood, "a b\nab\n"), "line 2"));
  EXPECT_TRUE(Has(VocabularyError(kGood, "a z\n"), "\"z\""));
}

TEST(VocabularyFiles, AnErrorNamesTheMissingFile) {
  EXPECT_TRUE(Has(VocabularyError(R"({"a": 0})", ""), "merges.txt is missing"));
  EXPECT_TRUE(Has(VocabularyError("", "a b\n"), "vocab.json is missing"));
}

TEST(VocabularyFiles, AnIdBeyondTheConfigsVocabularySizeIsRefused) {
  EXPECT_EQ(VocabularyError(R"({"a": 0, "b": 2})", kNoMerges, 3), "");
  EXPECT_TRUE(
      Has(VocabularyError(R"({"a": 0, "b": 3})", kNoMerges, 3), "\"b\" has the id 3, expected"));
  EXPECT_TRUE(Has(VocabularyError("{}", kNoMerges), "no tokens"));
}

TEST(VocabularyFiles, AnIdFarAboveTheNumberOfTokensIsRefused) {
  const std::string error = VocabularyError(R"({"a": 16777215})", kNoMerges, 1 << 24);
  EXPECT_TRUE(Has(error, "the id 16777215, but only 1 tokens"));
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
