#include "engine/generate/token_healer.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "engine/format/json.h"
#include "engine/format/vocabulary_files.h"
#include "tests/support/cover_search.h"
#include "tests/support/random_tokenizer.h"
#include "tests/support/slow_builds.h"
#include "tests/support/test_model.h"

namespace gpt2::testing {
namespace {

std::vector<std::int32_t> Encode(const Tokenizer& tokenizer, const std::string& text) {
  return std::move(tokenizer.Encode(text, SpecialTokens::kAsText).value());
}

bool BeginsWith(const std::vector<std::int32_t>& ids, std::span<const std::int32_t> beginning) {
  return ids.size() >= beginning.size() &&
         std::equal(beginning.begin(), beginning.end(), ids.begin());
}

// Whether no following text changes the first `kept` of `ids`.
bool IsStable(const Tokenizer& tokenizer, const std::string& prompt,
              const std::vector<std::int32_t>& ids, std::size_t kept,
              const std::set<std::string>& following) {
  for (const std::string& text : following) {
    if (!BeginsWith(Encode(tokenizer, prompt + text), std::span(ids).first(kept))) return false;
  }
  return true;
}

// The alphabet has letters, white space and the characters of contractions.
TEST(TokenHealer, RemovesTheFewestTokensThatFollowingTextCouldChangeAndFindsAllCovers) {
  const std::string alphabet = "alr' \n";
  const std::vector<std::string> spelled = {"a", "l", "r", "'", "Ġ", "Ċ"};
  std::size_t several = 0;
  for (const std::uint64_t seed : {1, 4}) {  // they often need more than one token removed
    const Tokenizer tokenizer = RandomTokenizer(spelled, 26, seed);
    const std::set<std::string> following = TextsThatFollow(tokenizer, alphabet);
    const TokenHealer healer(tokenizer, std::nullopt);
    for (const std::string& prompt : Texts(alphabet, kIsSlow ? 3 : 4)) {
      const auto ids = Encode(tokenizer, prompt);
      const Healing healing = healer.TakeBack(ids);
      if (prompt.empty()) {
        EXPECT_EQ(healing.tokens, 0u);
        continue;
      }
      ASSERT_GE(healing.tokens, 1u) << prompt;
      EXPECT_TRUE(prompt.ends_with(healing.bytes));
      const std::size_t kept = ids.size() - healing.tokens;
      EXPECT_EQ(tokenizer.Decode(std::span(ids).first(kept)).value() + healing.bytes, prompt);
      EXPECT_TRUE(IsStable(tokenizer, prompt, ids, kept, following)) << seed << " " << prompt;
      EXPECT_EQ(AdmittedCovers(tokenizer, healer, healing),
                SearchCovers(tokenizer, prompt, kept, following))
          << seed << " " << prompt;
      if (healing.tokens == 1) continue;
      ++several;
      EXPECT_FALSE(IsStable(tokenizer, prompt, ids, kept + 1, following)) << seed << " " << prompt;
    }
  }
  EXPECT_GT(several, kIsSlow ? 10u : 100u);
}

// GPT-2's first tokens, made of its first merges.
Tokenizer FirstTokensOfGpt2(std::size_t size) {
  const std::string folder = GPT2_TEST_DATA "/gpt2-tokenizer";
  Json vocab;
  const auto take = [&](const std::string& token, const Json& id) -> Status {
    if (id.get<std::size_t>() < size) vocab[token] = id;
    return Done{};
  };
  EXPECT_TRUE(ForMembers(ReadTestFile(folder + "/vocab.json"), "vocab.json", take).ok());
  const std::string lines = ReadTestFile(folder + "/merges.txt");
  std::size_t end = lines.find('\n') + 1;  // behind the version
  for (std::size_t i = 256; i < size; ++i) end = lines.find('\n', end) + 1;
  return std::move(ReadTokenizer(vocab.dump(), lines.substr(0, end), size).value());
}

TEST(TokenHealer, RemovesTheFewestTokensBeforeAnyWhiteSpace) {
  constexpr std::size_t kTokens = 3000;
  constexpr std::size_t kPrompts = kIsSlow ? 200 : 2000;
  const Tokenizer tokenizer = FirstTokensOfGpt2(kTokens);
  const std::vector<std::string> parts = {"a",
                                          "the",
                                          "st",
                                          "1",
                                          "20",
                                          "'",
                                          "'l",
                                          "!",
                                          ".",
                                          "://",
                                          "\xc3\xa9",
                                          "\xe4\xb8\xad",
                                          "\xe2\x80",
                                          "\xf0\x9f\x99\x82",
                                          " ",
                                          " ",
                                          "\n",
                                          "\t",
                                          "\xc2\xa0",
                                          "\xc2\xa0",
                                          "\xe2\x80\xa8",
                                          "\xe2\x81\x9f",
                                          "\xe3\x80\x80",
                                          "\xe1\x9a\x80"};
  std::set<std::string> pairs(parts.begin(), parts.end());  // they may separate white space
  for (const std::string& text : parts) {
    for (const std::string& next : parts) pairs.insert(text + next);
  }
  const TokenHealer healer(tokenizer, std::nullopt);
  std::mt19937 random(7);
  std::size_t several = 0;
  for (std::size_t i = 0; i < kPrompts; ++i) {
    std::string prompt;
    for (std::size_t count = 1 + random() % 5; count > 0; --count) {
      prompt += parts[random() % parts.size()];
    }
    // Texts that may follow: also the rest of each token that starts with the end of the prompt.
    std::set<std::string> following = pairs;
    for (std::int32_t id = 0; id < static_cast<std::int32_t>(kTokens); ++id) {
      const std::string_view bytes = tokenizer.TokenBytes(id);
      for (std::size_t size = 1; size < bytes.size(); ++size) {
        if (!prompt.ends_with(bytes.substr(0, size))) continue;
        for (const char* const next : {"", "a", " "}) {
          following.insert(std::string(bytes.substr(size)) + next);
        }
      }
    }
    const auto ids = Encode(tokenizer, prompt);
    const Healing healing = healer.TakeBack(ids);
    ASSERT_GE(healing.tokens, 1u);
    const std::size_t kept = ids.size() - healing.tokens;
    EXPECT_TRUE(IsStable(tokenizer, prompt, ids, kept, following))
        << ::testing::PrintToString(prompt);
    if (healing.tokens == 1) continue;
    ++several;
    EXPECT_FALSE(IsStable(tokenizer, prompt, ids, kept + 1, following))
        << ::testing::PrintToString(prompt) << " " << healing.tokens;
  }
  EXPECT_GT(several, kPrompts / 50);
}

TEST(TokenHealer, KeepsSpecialTokensAndNonCanonicalEncodings) {
  const Tokenizer tokenizer = RandomTokenizer({"a", "b", "c"}, 40, 5);
  const auto end = *tokenizer.end_of_text();
  const TokenHealer healer(tokenizer, 2);
  EXPECT_EQ(healer.TakeBack(std::vector{0, 1, end}).tokens, 0u);
  EXPECT_EQ(healer.TakeBack(std::vector{0, 1, 2}).tokens, 0u);
  EXPECT_EQ(healer.TakeBack(std::vector{end, 0}).tokens, 1u);
  EXPECT_EQ(healer.TakeBack(std::vector{end, 0}).bytes, "a");
  // Encoding never gives the single letters of a token of several letters.
  const std::string word(tokenizer.TokenBytes(4));  // of the first merge
  ASSERT_GT(word.size(), 1u);
  ASSERT_EQ(Encode(tokenizer, word), std::vector{4});
  std::vector<std::int32_t> letters;
  for (const char c : word) letters.push_back(c - 'a');
  const Healing healing = TokenHealer(tokenizer, std::nullopt).TakeBack(letters);
  EXPECT_GE(healing.tokens, 1u);
  EXPECT_LT(healing.tokens, letters.size());
  EXPECT_TRUE(word.ends_with(healing.bytes));
}

// A token with a byte that is no token could not be written again.
TEST(TokenHealer, KeepsTokensWithBytesOutsideTheVocabulary) {
  Json vocab = {{"a", 0}, {"aX", 1}};
  const auto tokenizer = std::move(ReadTokenizer(vocab.dump(), "#version: 0.2\n", 2).value());
  EXPECT_EQ(TokenHealer(tokenizer, std::nullopt).TakeBack(std::vector{0, 1}).tokens, 0u);
  EXPECT_EQ(TokenHealer(tokenizer, std::nullopt).TakeBack(std::vector{1, 0}).tokens, 1u);
}

TEST(TokenHealer, HealsExamplesInGpt2sVocabulary) {
  const std::string folder = GPT2_TEST_DATA "/gpt2-tokenizer";
  const Tokenizer tokenizer = std::move(ReadTokenizer(ReadTestFile(folder + "/vocab.json"),
                                                      ReadTestFile(folder + "/merges.txt"), 50257)
                                            .value());
  const TokenHealer healer(tokenizer, tokenizer.end_of_text());
  const auto healed = [&](const std::string& prompt) {
    return healer.TakeBack(Encode(tokenizer, prompt)).bytes;
  };
  EXPECT_EQ(healed("I like a strawber"), " strawber");  // of two tokens; " strawberry" is one
  EXPECT_EQ(healed("Hello world"), " world");
  EXPECT_EQ(healed("Hello "), " ");
  EXPECT_EQ(healed("Hello   "), " ");
  EXPECT_EQ(healed("I'"), "'");
  EXPECT_EQ(healed("we'l"), "'l");   // "'" and "l"; "'ll" is one
  EXPECT_EQ(healed("https:"), ":");  // "://"
  EXPECT_EQ(healed(std::string(100000, 'a')), "aaaa");
}

}  // namespace
}  // namespace gpt2::testing
