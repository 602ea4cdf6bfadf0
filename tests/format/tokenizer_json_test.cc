#include "engine/format/tokenizer_json.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "engine/format/json.h"
#include "engine/format/vocabulary_files.h"
#include "engine/text/byte_alphabet.h"
#include "engine/text/tokenizer.h"
#include "tests/support/has.h"
#include "tests/support/rewritten_tokenizer.h"

namespace gpt2 {
namespace {

using Ids = std::vector<std::int32_t>;

// A token for each byte, its id the byte; 256 is "ab".
Json ByteModel() {
  Json vocab = Json::object();
  for (int byte = 0; byte < 256; ++byte) {
    vocab[AlphabetFromBytes(std::string(1, static_cast<char>(byte)))] = byte;
  }
  vocab["ab"] = 256;
  return {{"type", "BPE"}, {"vocab", vocab}, {"merges", {"a b"}}};
}

Json ByteLevel() {
  return {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}};
}

Json File() {
  return {{"added_tokens", Json::array()},      {"normalizer", nullptr},
          {"pre_tokenizer", ByteLevel()},       {"post_processor", nullptr},
          {"decoder", {{"type", "ByteLevel"}}}, {"model", ByteModel()}};
}

Json Added(const std::string& content, int id, Json flags = Json::object()) {
  Json token = {{"id", id}, {"content", content}, {"special", false}, {"normalized", false}};
  token.update(flags);
  return token;
}

Ids Encoded(const Json& file, const std::string& text,
            SpecialTokens special = SpecialTokens::kAllowed) {
  const auto tokenizer = ReadTokenizerJson(file.dump(), 1000);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.error().message;
  if (!tokenizer.ok()) return {};
  const Ids ids = tokenizer.value().Encode(text, special, TextEnds::kWith).value();
  const std::string json = file.dump();
  const auto rewritten = testing::RewrittenTokenizer({.tokenizer = json}, 1000);
  EXPECT_TRUE(rewritten.ok()) << rewritten.error().message;
  if (rewritten.ok()) {
    EXPECT_EQ(rewritten.value().Encode(text, special, TextEnds::kWith).value(), ids);
  }
  return ids;
}

std::string ErrorOf(const Json& file) {
  const auto tokenizer = ReadTokenizerJson(file.dump(), 1000);
  return tokenizer.ok() ? "" : tokenizer.error().message;
}

TEST(TokenizerJson, MergesAndThePrefixSpaceComeFromTheFile) {
  Json file = File();
  EXPECT_EQ(Encoded(file, "ab a"), (Ids{256, ' ', 'a'}));
  file["pre_tokenizer"]["add_prefix_space"] = true;
  EXPECT_EQ(Encoded(file, "ab"), (Ids{' ', 256}));
  EXPECT_EQ(Encoded(file, " ab"), (Ids{' ', 256}));
  EXPECT_EQ(Encoded(file, ""), Ids{});
}

TEST(TokenizerJson, DigitsAndSplitPatternsSeparateTokens) {
  Json file = File();
  file["model"]["vocab"]["12"] = 257;
  file["model"]["merges"].push_back("1 2");
  EXPECT_EQ(Encoded(file, "12"), Ids{257});
  file["pre_tokenizer"] = {
      {"type", "Sequence"},
      {"pretokenizers", {{{"type", "Digits"}, {"individual_digits", true}}, ByteLevel()}}};
  EXPECT_EQ(Encoded(file, "12"), (Ids{'1', '2'}));
  file["pre_tokenizer"]["pretokenizers"][0] = {{"type", "Split"},
                                               {"pattern", {{"String", "b"}}},
                                               {"behavior", "Isolated"},
                                               {"invert", false}};
  EXPECT_EQ(Encoded(file, "ab12"), (Ids{'a', 'b', 257}));
}

TEST(TokenizerJson, NormalizersRunBeforeTokenization) {
  Json file = File();
  file["normalizer"] = {{"type", "Sequence"},
                        {"normalizers",
                         {{{"type", "Strip"}, {"strip_left", true}, {"strip_right", true}},
                          {{"type", "Replace"}, {"pattern", {{"String", "x"}}}, {"content", "ab"}},
                          {{"type", "Prepend"}, {"prepend", "y"}}}}};
  EXPECT_EQ(Encoded(file, "  x  "), (Ids{'y', 256}));
  EXPECT_EQ(Encoded(file, "  "), Ids{});
}

Json Steps(const std::vector<Json>& steps) {
  return {{"type", "Sequence"}, {"normalizers", steps}};
}

TEST(TokenizerJson, MoreThan16NormalizersAreRefused) {
  Json file = File();
  std::vector<Json> steps(16, {{"type", "Strip"}, {"strip_left", true}, {"strip_right", true}});
  file["normalizer"] = Steps(steps);
  EXPECT_EQ(ErrorOf(file), "");
  steps.push_back(steps[0]);
  file["normalizer"] = Steps(steps);
  EXPECT_TRUE(Has(ErrorOf(file), "[16]\" is an object of 3, expected at most 16 steps"));
}

TEST(TokenizerJson, NormalizersThatMultiplyTheLengthOfTheTextAreRefused) {
  Json file = File();
  const auto prepend = [](std::size_t bytes) {
    return Json{{"type", "Prepend"}, {"prepend", std::string(bytes, 'a')}};
  };
  const auto replace = [](std::size_t bytes) {
    return Json{
        {"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", std::string(bytes, 'a')}};
  };
  for (const std::vector<Json>& steps : std::vector<std::vector<Json>>{
           {prepend(0)}, {prepend(512)}, {replace(512), prepend(1)}, {prepend(3), replace(256)}}) {
    file["normalizer"] = Steps(steps);
    EXPECT_EQ(ErrorOf(file), "");
  }
  EXPECT_EQ(Encoded(file, "").size(), 0u);
  EXPECT_EQ(Encoded(file, "a").size(), 1024u);
  file["normalizer"] = prepend(513);
  EXPECT_TRUE(Has(ErrorOf(file), "\"normalizer.prepend\" is 513 bytes, expected at most 512"));
  file["normalizer"] = Steps({prepend(3), replace(257)});
  EXPECT_TRUE(Has(ErrorOf(file), "\"normalizer.normalizers[1].content\" is 257 bytes"));
  file["normalizer"] = Steps({replace(257), prepend(3)});
  EXPECT_TRUE(Has(ErrorOf(file), "\"normalizer.normalizers[1].prepend\" is 3 bytes"));
}

TEST(TokenizerJson, AddedTokensAreMatchedFirst) {
  Json file = File();
  file["added_tokens"] = {Added("<a>", 257, {{"special", true}}), Added("<a>b", 258),
                          Added("cat", 259, {{"single_word", true}}),
                          Added("<m>", 260, {{"lstrip", true}, {"rstrip", true}})};
  EXPECT_EQ(Encoded(file, "<a>bb<a>"), (Ids{258, 'b', 257}));
  EXPECT_EQ(Encoded(file, "cat cats"), (Ids{259, ' ', 'c', 'a', 't', 's'}));
  EXPECT_EQ(Encoded(file, "a <m> <m>  b"), (Ids{'a', 260, 260, 'b'}));
  EXPECT_EQ(Encoded(file, "<a>", SpecialTokens::kAsText), (Ids{'<', 'a', '>'}));
  const auto tokenizer = ReadTokenizerJson(file.dump(), 1000);
  EXPECT_EQ(tokenizer.value().Decode(Ids{257, 'x', 260}).value(), "<a>x<m>");
}

TEST(TokenizerJson, NormalizedAddedTokensAreMatchedInTheNormalizedText) {
  Json file = File();
  file["normalizer"] = {{"type", "Replace"}, {"pattern", {{"String", "x"}}}, {"content", "z"}};
  file["added_tokens"] = {Added("xx", 257, {{"normalized", true}}), Added("xy", 258)};
  EXPECT_EQ(Encoded(file, "zxxyx"), (Ids{257, 258, 'z'}));
}

TEST(TokenizerJson, ATemplateAddsTokensAtBothEnds) {
  Json file = File();
  const auto special = [](const char* id) { return Json{{"SpecialToken", {{"id", id}}}}; };
  file["post_processor"] = {{"type", "TemplateProcessing"},
                            {"single", {special("B"), {{"Sequence", {{"id", "A"}}}}, special("E")}},
                            {"pair", Json::array()},
                            {"special_tokens", {{"B", {{"ids", {7, 8}}}}, {"E", {{"ids", {9}}}}}}};
  EXPECT_EQ(Encoded(file, "ab"), (Ids{7, 8, 256, 9}));
  EXPECT_EQ(Encoded(file, ""), (Ids{7, 8, 9}));
}

TEST(TokenizerJson, ALongTemplateIsRefused) {
  Json file = File();
  const auto error = [&](std::size_t pieces, std::size_t ids) {
    std::vector<Json> single(pieces, {{"SpecialToken", {{"id", "B"}}}});
    single.push_back({{"Sequence", {{"id", "A"}}}});
    file["post_processor"] = {{"type", "TemplateProcessing"},
                              {"single", single},
                              {"special_tokens", {{"B", {{"ids", std::vector<int>(ids, 'b')}}}}}};
    return ErrorOf(file);
  };
  EXPECT_EQ(error(63, 1), "");
  EXPECT_TRUE(
      Has(error(64, 1), "\"post_processor.single\" is an array of 65, expected at most 64"));
  EXPECT_EQ(error(2, 128), "");
  EXPECT_TRUE(Has(error(2, 129), "puts 258 tokens on one side of the text, expected at most 256"));
}

TEST(TokenizerJson, IgnoreMergesFindsWholeWordsInTheVocabulary) {
  Json file = File();
  file["model"]["vocab"]["xyz"] = 257;
  EXPECT_EQ(Encoded(file, "xyz"), (Ids{'x', 'y', 'z'}));
  file["model"]["ignore_merges"] = true;
  EXPECT_EQ(Encoded(file, "xyz abc"), (Ids{257, ' ', 256, 'c'}));
}

TEST(TokenizerJson, UnsupportedRulesAreRefusedByTheirField) {
  const auto refused = [](const char* section, const Json& value) {
    Json file = File();
    file[section] = value;
    return ErrorOf(file);
  };
  EXPECT_EQ(refused("normalizer", {{"type", "NFC"}}),
            "tokenizer.json: \"normalizer.type\" is \"NFC\", expected \"Replace\", \"Prepend\", "
            "\"Strip\" or \"Sequence\"");
  EXPECT_TRUE(Has(refused("pre_tokenizer", {{"type", "Whitespace"}}), "pre_tokenizer.type"));
  EXPECT_TRUE(
      Has(refused("post_processor", {{"type", "RobertaProcessing"}}), "post_processor.type"));
  EXPECT_TRUE(Has(refused("decoder", nullptr), "\"decoder\" is null"));
  EXPECT_TRUE(Has(refused("extra", 1), "unknown member \"extra\""));
  EXPECT_TRUE(
      Has(refused("added_tokens", Json::array({Added("x", 300)})), "has the id 300, expected 120"));
  EXPECT_TRUE(Has(refused("added_tokens", Json::array({Added("new", 300)})),
                  "has the id 300, expected 257"));
  const Json others = {{"dropout", 0.1},
                       {"continuing_subword_prefix", "##"},
                       {"end_of_word_suffix", "</w>"},
                       {"type", "Unigram"}};
  for (const auto& [key, value] : others.items()) {
    Json file = File();
    file["model"][key] = value;
    EXPECT_TRUE(Has(ErrorOf(file), "model." + key)) << key;
  }
}

TEST(TokenizerJson, AnUnknownTokenIsRefusedOnlyIfAByteHasNoToken) {
  Json file = File();
  file["model"]["unk_token"] = "ab";
  EXPECT_EQ(ErrorOf(file), "");
  file["model"]["vocab"].erase("a");
  EXPECT_TRUE(Has(ErrorOf(file), "tokenizer.json: merge 1 \"a b\" needs the token \"a\""));
  file["model"]["merges"] = Json::array();
  EXPECT_TRUE(Has(ErrorOf(file), "model.unk_token"));
}

TEST(TokenizerSettings, AddedTokensAndTokenizerConfigExtendTheVocabulary) {
  const std::string vocab = ByteModel()["vocab"].dump();
  const auto encoded = [&](const TokenizerFiles& more, const std::string& text) {
    TokenizerFiles files = more;
    files.vocab = vocab;
    files.merges = "#version: 0.2\na b\n";
    const auto tokenizer = ReadTokenizer(files, 1000);
    EXPECT_TRUE(tokenizer.ok()) << tokenizer.error().message;
    return tokenizer.ok()
               ? tokenizer.value().Encode(text, SpecialTokens::kAllowed, TextEnds::kWith).value()
               : Ids{};
  };
  EXPECT_EQ(encoded({.added_tokens = R"({"<p>": 257})"}, "<p>"), Ids{257});
  EXPECT_EQ(encoded({.tokenizer_config = R"({"add_prefix_space": true})"}, "ab"), (Ids{' ', 256}));
  EXPECT_EQ(encoded({.tokenizer_config = R"({"add_bos_token": true, "bos_token": "<s>",
                       "added_tokens_decoder": {"257": {"content": "<s>", "special": true}}})"},
                    "ab"),
            (Ids{257, 256}));
  EXPECT_EQ(encoded({.special_tokens_map = R"({"pad_token": "[PAD]"})"}, "[PAD]"), Ids{257});
  const auto far = ReadTokenizer(
      {.vocab = vocab, .merges = "a b", .added_tokens = R"({"<p>": 16000000})"}, 1000);
  ASSERT_FALSE(far.ok());
  EXPECT_TRUE(Has(far.error().message, "added_tokens.json: the token \"<p>\" has the id 16000000"));
  const auto other = ReadTokenizer({.vocab = vocab,
                                    .merges = "#version: 0.2\n",
                                    .tokenizer_config = R"({"tokenizer_class": "BertTokenizer"})"},
                                   1000);
  ASSERT_FALSE(other.ok());
  EXPECT_TRUE(Has(other.error().message, "tokenizer_config.json: \"tokenizer_class\""));
}

}  // namespace
}  // namespace gpt2
