#include "engine/text/tokenizer.h"

#include <gtest/gtest.h>

#include <sstream>

#include "engine/base/random.h"
#include "engine/format/vocabulary_files.h"
#include "tests/support/has.h"
#include "tests/support/slow_builds.h"
#include "tests/support/test_model.h"

namespace gpt2::testing {
namespace {

const Tokenizer& Gpt2Tokenizer() {
  static const Tokenizer tokenizer = [] {
    const std::string folder = GPT2_TEST_DATA "/gpt2-tokenizer";
    auto result = ReadTokenizer(ReadTestFile(folder + "/vocab.json"),
                                ReadTestFile(folder + "/merges.txt"), 50257);
    EXPECT_TRUE(result.ok()) << result.error().message;
    return std::move(result.value());
  }();
  return tokenizer;
}

std::vector<std::int32_t> Encode(std::string_view text,
                                 SpecialTokens special = SpecialTokens::kAsText) {
  return std::move(Gpt2Tokenizer().Encode(text, special).value());
}

std::string Decode(std::span<const std::int32_t> ids) {
  return std::move(Gpt2Tokenizer().Decode(ids).value());
}

TEST(Tokenizer, IdsMatchTiktoken) {
  std::istringstream lines(ReadTestFile(GPT2_TEST_DATA "/gpt2-tokenizer/golden.jsonl"));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const Json golden = Json::parse(line);
    EXPECT_EQ(Encode(golden["text"].get<std::string>()),
              golden["ids"].get<std::vector<std::int32_t>>())
        << line.substr(0, 200);
  }
  EXPECT_EQ(count, 358u);
}

TEST(Tokenizer, EveryByteSurvivesTheRoundTrip) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text(1, static_cast<char>(byte));
    EXPECT_EQ(Decode(Encode(text)), text) << byte;
  }
}

TEST(Tokenizer, AnyTextSurvivesTheRoundTrip) {
  Random random(20260101);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (std::uint64_t size = random.Next() % 60; size > 0; --size) {
      const std::uint64_t r = random.Next();
      // ASCII, multi-byte characters, white space of all kinds and stray bytes.
      constexpr std::string_view kParts[] = {"é",  "漢",     "😀",       " ",
                                             "\n", "\u00a0", "'s",       "7",
                                             "a",  "\xff",   "\xe2\x82", "<|endoftext|>",
                                             "٣",  "\u2028"};
      text += kParts[r % std::size(kParts)];
      text += static_cast<char>(r >> 32);
    }
    EXPECT_EQ(Decode(Encode(text)), text) << "round " << round;
  }
}

TEST(Tokenizer, EndOfTextIsPlainTextUnlessAllowed) {
  EXPECT_EQ(Encode("a<|endoftext|>b", SpecialTokens::kAllowed),
            (std::vector<std::int32_t>{64, 50256, 65}));
  const auto as_text = Encode("<|endoftext|>");
  EXPECT_GT(as_text.size(), 1u);
  EXPECT_EQ(Decode(as_text), "<|endoftext|>");
}

// Quadratic time would take minutes here, and the test's own time limit would end it.
TEST(Tokenizer, LongRunsOfOneCharacterTakeLinearTime) {
  for (const char c : {' ', 'a', '\n', '7', '!'}) {
    const std::string text(kIsSlow ? 60'000 : 300'000, c);
    EXPECT_EQ(Decode(Encode(text)).size(), text.size());
  }
}

TEST(Tokenizer, AnErrorNamesAByteThatTheVocabularyLacks) {
  const auto tokenizer = ReadTokenizer(R"({"a": 0, "b": 1, "ab": 2})", "a b\n", 3);
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_EQ(tokenizer.value().Encode("abab", SpecialTokens::kAsText).value(),
            (std::vector<std::int32_t>{2, 2}));
  const auto failed = tokenizer.value().Encode("c", SpecialTokens::kAsText);
  ASSERT_FALSE(failed.ok());
  EXPECT_TRUE(Has(failed.error().message, "99"));
}

TEST(Tokenizer, TheLastOfTwoEqualMergesWins) {
  const auto tokenizer = ReadTokenizer(R"({"b": 0, "a": 1, "ab": 2, "ba": 3})",
                                       "b a\na b\nb a\na b\n", /*vocab_size=*/4);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
  const Tokenizer::Merge* const first = tokenizer.value().FindMerge(0, 1);
  const Tokenizer::Merge* const second = tokenizer.value().FindMerge(1, 0);
  ASSERT_TRUE(first != nullptr && second != nullptr);
  EXPECT_EQ(first->rank, 2u);
  EXPECT_EQ(first->merged, 3);
  EXPECT_EQ(second->rank, 3u);
  EXPECT_EQ(second->merged, 2);
  for (const auto& [left, right] : {std::pair(0, 0), {1, 1}, {2, 0}, {3, 3}}) {
    EXPECT_EQ(tokenizer.value().FindMerge(left, right), nullptr) << left << " " << right;
  }
}

TEST(Tokenizer, ADecodingErrorNamesAnIdOutsideTheVocabulary) {
  for (const std::int32_t id : {-1, 50257}) {
    const auto text = Gpt2Tokenizer().Decode(std::vector<std::int32_t>{50256, id});
    ASSERT_FALSE(text.ok());
    EXPECT_EQ(text.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(text.error().message, "token id " + std::to_string(id) + ", expected 0 to 50256");
  }
}

}  // namespace
}  // namespace gpt2::testing
