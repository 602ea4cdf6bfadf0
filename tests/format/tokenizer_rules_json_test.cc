// Tests the rules that a page passes to the engine if a tokenizer has other files than vocab.json
// and merges.txt. tokenizer_json_test.cc tests each rule of a tokenizer.json.
#include "engine/format/tokenizer_rules_json.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/format/json.h"
#include "engine/format/vocabulary_files.h"
#include "tests/support/has.h"
#include "tests/support/rewritten_tokenizer.h"

namespace gpt2 {
namespace {

using Ids = std::vector<std::int32_t>;

constexpr const char* kVocab = R"({"a":0,"b":1,"ab":2,"<end>":3})";
constexpr const char* kMerges = "#version: 0.2\na b\n";

TEST(TokenizerRulesJson, SettingsSurviveTheRoundTrip) {
  const TokenizerFiles files = {
      .vocab = kVocab,
      .merges = kMerges,
      .tokenizer_config = R"({"add_bos_token":true,"bos_token":"<end>","added_tokens_decoder":{
          "4":{"content":"  x","lstrip":true,"normalized":true},
          "5":{"content":"aba","single_word":true,"rstrip":true}}})",
      .special_tokens_map = R"({"pad_token":"<pad>"})",
      .added_tokens = R"({"<pad>":6})"};
  const auto direct = ReadTokenizer(files, 7);
  const auto rewritten = testing::RewrittenTokenizer(files, 7);
  ASSERT_TRUE(direct.ok()) << direct.error().message;
  ASSERT_TRUE(rewritten.ok()) << rewritten.error().message;
  for (const char* text : {"ab", "ab<end>b<pad>", "a   xb", "aba", "abab aba  "}) {
    for (const SpecialTokens special : {SpecialTokens::kAsText, SpecialTokens::kAllowed}) {
      const auto expected = direct.value().Encode(text, special, TextEnds::kWith);
      const auto found = rewritten.value().Encode(text, special, TextEnds::kWith);
      ASSERT_EQ(found.ok(), expected.ok()) << text;
      if (!expected.ok()) continue;
      EXPECT_EQ(found.value(), expected.value()) << text;
    }
  }
  EXPECT_EQ(rewritten.value().Encode("ab<pad>", SpecialTokens::kAllowed, TextEnds::kWith).value(),
            (Ids{3, 2, 6}));
}

TEST(TokenizerRulesJson, AnErrorNamesTheSourceFile) {
  const auto refused = testing::WrittenTokenizer(
      {.vocab = kVocab, .merges = kMerges, .tokenizer_config = R"({"add_eos_token":true})"}, 7);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  EXPECT_TRUE(Has(refused.error().message, "tokenizer_config.json: \"add_eos_token\""));
}

TEST(TokenizerRulesJson, AMergeWithASpaceIsRefused) {
  const Json file = {{"pre_tokenizer", {{"type", "ByteLevel"}}},
                     {"decoder", {{"type", "ByteLevel"}}},
                     {"model",
                      {{"type", "BPE"},
                       {"vocab", {{"a", 0}, {" ", 1}, {"a ", 2}}},
                       {"merges", Json::array({Json::array({"a", " "})})}}}};
  const std::string text = file.dump();
  ASSERT_TRUE(ReadTokenizer({.tokenizer = text}, 7).ok());
  const auto refused = testing::WrittenTokenizer({.tokenizer = text}, 7);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  EXPECT_TRUE(Has(refused.error().message, "\"model.merges\" has \" \""));
}

TEST(TokenizerRulesJson, DamagedRulesAreRefused) {
  const Json good = {{"added", {{"x", 4, 0}}}, {"normalizers", {{0, "a", "b", 0}}},
                     {"splitters", {{3, ""}}}, {"prefixSpaceAt", 0},
                     {"ignoresMerges", false}, {"beginning", {1}},
                     {"end", Json::array()}};
  const auto is_read = [](const Json& rules) {
    return ReadTokenizer(kVocab, kMerges, 7, &rules).ok();
  };
  ASSERT_TRUE(is_read(good));
  const std::vector<std::pair<const char*, Json>> damages = {
      {"added", nullptr},
      {"added", {{"x", 4}}},
      {"added", {{"", 4, 0}}},
      {"added", {{std::string(513, 'x'), 4, 0}}},
      {"added", {{"x", 1 << 23, 0}}},
      {"added", {{"x", 4, 32}}},
      {"added", {{"x", 4, -1}}},
      {"added", {{4, 4, 0}}},
      {"added", {"x"}},
      {"normalizers", {{3, "a", "b", 0}}},
      {"normalizers", {{0, "", "b", 0}}},
      {"normalizers", {{0, "a", 1, 0}}},
      {"splitters", {{4, "a"}}},
      {"splitters", {{2, ""}}},
      {"splitters", "a"},
      {"prefixSpaceAt", 2},
      {"prefixSpaceAt", -1},
      {"ignoresMerges", 1},
      {"beginning", {-1}},
      {"end", {1.5}},
      {"end", {{"a", 1}}}};
  for (const auto& [name, damage] : damages) {
    Json rules = good;
    rules[name] = damage;
    EXPECT_FALSE(is_read(rules)) << rules.dump();
    rules.erase(name);
    EXPECT_EQ(is_read(rules), std::string(name) == "prefixSpaceAt") << "without " << name;
  }
  for (const Json& none : {Json(), Json::array(), Json("x")}) EXPECT_FALSE(is_read(none));
}

}  // namespace
}  // namespace gpt2
