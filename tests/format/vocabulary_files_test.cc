#include "engine/format/vocabulary_files.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

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
  const std::pair<std::string_view, const char*> vocabularies[] = {
      {"{\"a\": 0", "vocab.json"},
      {"", "vocab.json is missing"},
      {"{}", "no tokens"},
      {"[]", "expected an object, found an array"},
      {"7", "expected an object, found 7"},
      {R"({"a": -1})", "-1"},
      {R"({"a": 0.5})", "0.5"},
      {R"({"a": "x"})", "\"x\""},
      {R"({"a": {}})", "\"a\" has the id an object"},
      {R"({"a": [[[]]]})", "\"a\" has the id an array"},
      {R"({"a": 4000000000})", "4000000000"},
      {R"({"a": 0, "b": 0})", "second token"},
      {R"({"a": 0, "a": 1})", "twice"}};
  for (const auto& [vocab, why] : vocabularies) {
    EXPECT_TRUE(Has(VocabularyError(vocab, kNoMerges), why)) << vocab;
  }
  const std::pair<std::string_view, const char*> merges[] = {{"", "merges.txt is missing"},
                                                             {"a b c\n", "line 1"},
                                                             {"a b\nab\n", "line 2"},
                                                             {"a z\n", "\"z\""}};
  for (const auto& [text, why] : merges)
    EXPECT_TRUE(Has(VocabularyError(kGood, text), why)) << text;
}

TEST(VocabularyFiles, AnIdBeyondTheVocabularySizeOrFarAboveTheNumberOfTokensIsRefused) {
  EXPECT_EQ(VocabularyError(R"({"a": 0, "b": 2})", kNoMerges, 3), "");
  EXPECT_TRUE(
      Has(VocabularyError(R"({"a": 0, "b": 3})", kNoMerges, 3), "\"b\" has the id 3, expected"));
  EXPECT_TRUE(Has(VocabularyError(R"({"a": 16777215})", kNoMerges, 1 << 24),
                  "the id 16777215, but only 1 tokens"));
}

TEST(VocabularyFiles, AnErrorAbbreviatesALongToken) {
  const std::string token(1 << 20, 'x');
  EXPECT_LT(VocabularyError("{\"" + token + "\": -1}", kNoMerges).size(), 400u);
  EXPECT_LT(VocabularyError(R"({"a": 0})", token + " " + token + "\n").size(), 600u);
  EXPECT_LT(VocabularyError(R"({"a": 0})", token + "\n").size(), 400u);
}

}  // namespace
}  // namespace gpt2
