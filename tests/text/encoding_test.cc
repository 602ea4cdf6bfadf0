#include "engine/text/encoding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "engine/format/vocabulary_files.h"
#include "tests/support/test_model.h"

namespace gpt2::testing {
namespace {

// 'a' to 'd', and merges of them in an order that makes some pairs wait for others.
Tokenizer SmallTokenizer() {
  Json vocab = Json::object();
  std::string merges;
  const auto add = [&](const std::string& token) { vocab[token] = vocab.size(); };
  for (const char* letter : {"a", "b", "c", "d"}) add(letter);
  for (const auto& [left, right] :
       std::vector<std::pair<std::string, std::string>>{{"a", "a"},
                                                        {"b", "c"},
                                                        {"aa", "aa"},
                                                        {"c", "d"},
                                                        {"a", "b"},
                                                        {"bc", "d"},
                                                        {"d", "aa"},
                                                        {"aaaa", "aaaa"},
                                                        {"ab", "cd"},
                                                        {"d", "bc"},
                                                        {"aa", "b"}}) {
    if (!vocab.contains(left + right)) add(left + right);
    merges += left + " " + right + "\n";
  }
  return std::move(ReadTokenizer(vocab.dump(), merges, vocab.size()).value());
}

// The definition: of all pairs that merge the one of lowest rank, the leftmost of these, again and
// again. A set of all of them keeps it fast enough for long words.
std::vector<std::int32_t> MergeByDefinition(const Tokenizer& tokenizer, std::string_view word) {
  std::vector<std::int32_t> tokens;
  for (const char c : word) tokens.push_back(tokenizer.ByteToken(static_cast<unsigned char>(c)));
  const std::size_t end = word.size();
  std::vector<std::size_t> next(end), previous(end);
  for (std::size_t i = 0; i < end; ++i) {
    next[i] = i + 1;
    previous[i] = i - 1;
  }
  std::set<std::pair<std::uint32_t, std::size_t>> pairs;
  const auto merge_at = [&](std::size_t i) {
    return i < end && next[i] < end ? tokenizer.FindMerge(tokens[i], tokens[next[i]]) : nullptr;
  };
  const auto add = [&](std::size_t i) {
    if (const auto* merge = merge_at(i)) pairs.insert({merge->rank, i});
  };
  const auto remove = [&](std::size_t i) {
    if (const auto* merge = merge_at(i)) pairs.erase({merge->rank, i});
  };
  for (std::size_t i = 0; i < end; ++i) add(i);
  while (!pairs.empty()) {
    const std::size_t left = pairs.begin()->second;
    const std::size_t right = next[left];
    const std::int32_t merged = merge_at(left)->merged;
    for (const std::size_t i : {previous[left], left, right}) remove(i);
    tokens[left] = merged;
    next[left] = next[right];
    if (next[right] < end) previous[next[right]] = left;
    for (const std::size_t i : {previous[left], left}) add(i);
  }
  std::vector<std::int32_t> ids;
  for (std::size_t i = 0; i < end; i = next[i]) ids.push_back(tokens[i]);
  return ids;
}

std::string RandomLetters(std::size_t size, std::uint64_t seed) {
  Random random(seed);
  std::string text(size, ' ');
  for (char& c : text) c = static_cast<char>('a' + random.Next() % 4);
  return text;
}

TEST(Encoding, MergesMatchTheirDefinition) {
  const Tokenizer tokenizer = SmallTokenizer();
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const std::string word = RandomLetters(1 + seed % 40, seed);
    EXPECT_EQ(tokenizer.Encode(word, SpecialTokens::kAsText).value(),
              MergeByDefinition(tokenizer, word))
        << word;
  }
}

// These words have more merge candidates than the queue holds.
TEST(Encoding, MergesOfLongWordsMatchTheirDefinition) {
  const Tokenizer tokenizer = SmallTokenizer();
  for (const std::string& word : {RandomLetters(200'000, 1), std::string(70'001, 'a')}) {
    EXPECT_EQ(tokenizer.Encode(word, SpecialTokens::kAsText).value(),
              MergeByDefinition(tokenizer, word));
  }
}

TEST(Encoding, IdsAbove16BitsAreSupported) {
  constexpr std::size_t kSize = 65536 + 3;
  std::vector<std::string> tokens(kSize);
  tokens[0] = "b";
  tokens[kSize - 3] = "a";
  tokens[kSize - 2] = "aa";
  tokens[kSize - 1] = "aab";
  const std::vector<std::pair<std::string, std::string>> merges = {{"a", "a"}, {"aa", "b"}};
  const Tokenizer tokenizer = std::move(Tokenizer::Create(tokens, merges).value());
  EXPECT_EQ(tokenizer.Encode("aabaaab", SpecialTokens::kAsText).value(),
            (std::vector<std::int32_t>{65538, 65537, 65536, 0}));
}

TEST(Encoding, EncodingInPortionsGivesTheSameIds) {
  const std::string folder = GPT2_TEST_DATA "/gpt2-tokenizer";
  const Tokenizer tokenizer = std::move(ReadTokenizer(ReadTestFile(folder + "/vocab.json"),
                                                      ReadTestFile(folder + "/merges.txt"), 50257)
                                            .value());
  const std::string text =
      "<|endoftext|>Hello,  world's \xf0\x9f\x99\x82 end<|endoftext|><|endoftext|> \xff bytes ";
  const auto whole = tokenizer.Encode(text, SpecialTokens::kAllowed).value();
  EXPECT_EQ(std::count(whole.begin(), whole.end(), *tokenizer.end_of_text()), 3);
  for (const std::size_t size : {1, 2, 7, 1000}) {
    std::vector<std::int32_t> ids, portion(size);
    Encoding encoding(tokenizer, text, SpecialTokens::kAllowed);
    while (!encoding.is_done()) {
      const std::size_t count = encoding.Next(portion).value();
      EXPECT_TRUE(count == size || encoding.is_done());
      ids.insert(ids.end(), portion.begin(), portion.begin() + static_cast<std::ptrdiff_t>(count));
    }
    EXPECT_EQ(ids, whole) << size;
  }
}

TEST(Encoding, EachTokenHasItsPlaceInTheText) {
  const std::string folder = GPT2_TEST_DATA "/gpt2-tokenizer";
  const Tokenizer tokenizer = std::move(ReadTokenizer(ReadTestFile(folder + "/vocab.json"),
                                                      ReadTestFile(folder + "/merges.txt"), 50257)
                                            .value());
  const std::string text = "<|endoftext|>Hi,  \xf0\x9f\x99\x82\xef\xbf\xbd\xff end\xef\xbf\xbd";
  std::vector<std::int32_t> ids(100);
  std::vector<TokenPlace> places(100);
  Encoding encoding(tokenizer, text, SpecialTokens::kAllowed, TextEnds::kWithout, true);
  const std::size_t count = encoding.Next(ids, places).value();
  for (std::size_t i = 0; i < count; ++i) {
    const auto [begin, end] = places[i];
    EXPECT_EQ(text.substr(begin, end - begin), tokenizer.TokenBytes(ids[i]));
    EXPECT_EQ(begin, i == 0 ? 0 : places[i - 1].end);
  }
  EXPECT_EQ(places[count - 1].end, text.size());
}

TEST(Utf16Places, APlaceWithinACharacterIncludesAllOfIt) {
  Utf16Places places("a\xf0\x9f\x99\x82\xc3\xa9");
  std::vector<std::uint32_t> units;
  places.Append(std::vector<TokenPlace>{{0, 0}, {0, 2}, {2, 5}, {5, 6}, {6, 7}, {7, 9}}, units);
  EXPECT_EQ(units, (std::vector<std::uint32_t>{0, 0, 0, 3, 1, 3, 3, 4, 3, 4, 4, 4}));
}

}  // namespace
}  // namespace gpt2::testing
