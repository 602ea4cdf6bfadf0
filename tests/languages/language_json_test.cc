#include "engine/languages/language_json.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "engine/format/json.h"
#include "engine/text/aligned_text.h"
#include "engine/text/byte_alphabet.h"
#include "engine/text/encoding.h"
#include "engine/text/tokenizer.h"
#include "tests/support/has.h"

namespace gpt2 {
namespace {

using Ids = std::vector<std::int32_t>;

Json File(const Json& model) {
  return {{"added_tokens", Json::array()},
          {"normalizer", nullptr},
          {"pre_tokenizer", {{"type", "WhitespaceSplit"}}},
          {"post_processor", nullptr},
          {"decoder", nullptr},
          {"model", model}};
}

Json WordLevel() {
  return File({{"type", "WordLevel"},
               {"vocab", {{"[UNK]", 0}, {"e4", 1}, {"Nf6", 2}}},
               {"unk_token", "[UNK]"}});
}

Json WordPiece() {
  Json file = File(
      {{"type", "WordPiece"},
       {"unk_token", "[UNK]"},
       {"continuing_subword_prefix", "##"},
       {"max_input_chars_per_word", 8},
       {"vocab",
        {{"[UNK]", 0}, {"un", 1}, {"##aff", 2}, {"##able", 3}, {"\xe4\xb8\xad", 4}, {"!", 5}}}});
  file["normalizer"] = {{"type", "BertNormalizer"}, {"lowercase", true}};
  file["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
  file["decoder"] = {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}};
  return file;
}

// Every byte, and three subwords.
Json Unigram() {
  Json vocab = Json::array({Json::array({"<unk>", 0.0})});
  for (int byte = 0; byte < 256; ++byte) {
    constexpr char kDigits[] = "0123456789ABCDEF";
    vocab.push_back(
        Json::array({std::string("<0x") + kDigits[byte / 16] + kDigits[byte % 16] + ">", 0.0}));
  }
  const std::string space = "\xe2\x96\x81";
  for (const auto& [text, score] :
       std::vector<std::pair<std::string, double>>{{space, -2}, {space + "a", -2}, {"b", -1}}) {
    vocab.push_back(Json::array({text, score}));
  }
  Json file = File({{"type", "Unigram"}, {"unk_id", 0}, {"vocab", vocab}, {"byte_fallback", true}});
  file["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", space}};
  file["decoder"] = {{"type", "Sequence"},
                     {"decoders",
                      {{{"type", "Replace"}, {"pattern", {{"String", space}}}, {"content", " "}},
                       {{"type", "ByteFallback"}},
                       {{"type", "Fuse"}},
                       {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}}}};
  return file;
}

Result<Tokenizer> Read(const Json& file) {
  const std::string text = file.dump();
  return ReadAnyTokenizer({.tokenizer = text}, 1000);
}

Ids Encoded(const Json& file, const std::string& text) {
  const auto tokenizer = Read(file);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.error().message;
  if (!tokenizer.ok()) return {};
  return tokenizer.value().Encode(text, SpecialTokens::kAllowed, TextEnds::kWith).value();
}

std::string ErrorOf(const Json& file) {
  const auto tokenizer = Read(file);
  return tokenizer.ok() ? "" : tokenizer.error().message;
}

TEST(LanguageJson, AWordLevelModelMapsWordsToTokens) {
  EXPECT_EQ(Encoded(WordLevel(), " e4  e5 Nf6"), (Ids{1, 0, 2}));
  const Tokenizer tokenizer = Read(WordLevel()).value();
  EXPECT_EQ(tokenizer.Decode(Ids{1, 2}).value(), "e4 Nf6");
  EXPECT_EQ(tokenizer.TokenBytes(2), " Nf6");
  EXPECT_FALSE(tokenizer.HasGpt2Rules());
}

// What each token stands for in `text`.
std::vector<std::string> PartsOf(const Json& file, const std::string& text) {
  const Tokenizer tokenizer = Read(file).value();
  std::vector<std::int32_t> ids(100);
  std::vector<TokenPlace> places(100);
  Encoding encoding(tokenizer, text, SpecialTokens::kAllowed, TextEnds::kWith, true);
  std::vector<std::string> parts;
  const std::size_t count = encoding.Next(ids, places).value();
  for (std::size_t i = 0; i < count; ++i) {
    parts.push_back(text.substr(places[i].begin, places[i].end - places[i].begin));
  }
  return parts;
}
using Parts = std::vector<std::string>;

TEST(LanguageJson, EachTokenHasItsPlaceInTheTextBeforeAllSteps) {
  EXPECT_EQ(PartsOf(WordLevel(), " e4  e5 Nf6 "), (Parts{"e4", "e5", "Nf6"}));
  EXPECT_EQ(PartsOf(WordPiece(),
                    "Unaff\xc3\xa1"
                    "ble  \xc3\x9cN\xcc\x81"
                    "AFF \xe4\xb8\xad\xe4\xb8\xad!"),
            (Parts{std::string("Unaff\xc3\xa1") + "ble", "\xc3\x9cN", "AFF", "\xe4\xb8\xad",
                   "\xe4\xb8\xad", "!"}));
  EXPECT_EQ(PartsOf(Unigram(), "ab  \xc3\xa9"), (Parts{"a", "b", " ", " ", "\xc3", "\xa9"}));
  Json file = Unigram();
  file["added_tokens"] = {{{"id", 0},
                           {"content", "<unk>"},
                           {"special", true},
                           {"normalized", false},
                           {"single_word", false},
                           {"lstrip", true},
                           {"rstrip", true}}};
  file["normalizer"] = {{"type", "Sequence"},
                        {"normalizers",
                         {{{"type", "NFKC"}},
                          {{"type", "Replace"}, {"pattern", {{"Regex", "b+"}}}, {"content", "b"}},
                          {{"type", "Prepend"}, {"prepend", "b"}}}}};
  EXPECT_EQ(PartsOf(file, "\xef\xbd\x81 <unk> bbba\xcc\x81"),
            (Parts{"", "", "\xef\xbd\x81", " <unk> ", "", "", "bbb", "a\xcc\x81", "a\xcc\x81"}));
}

// Expected: the ids of tokenizers 0.23.
TEST(LanguageJson, MetaspaceMarksTheFirstPieceOnlyIfItBeginsWhereTheTextDoes) {
  const std::string space = "\xe2\x96\x81";
  Json file = File({{"type", "WordLevel"},
                    {"unk_token", "?"},
                    {"vocab", {{"?", 0}, {"a", 1}, {space + "a", 2}, {"b" + space + "a", 3}}}});
  file["pre_tokenizer"] = {
      {"type", "Metaspace"}, {"replacement", space}, {"prepend_scheme", "first"}};
  EXPECT_EQ(Encoded(file, "a"), (Ids{2}));
  file["normalizer"] = {{"type", "Strip"}, {"strip_left", true}, {"strip_right", true}};
  EXPECT_EQ(Encoded(file, "a\n"), (Ids{2}));
  EXPECT_EQ(Encoded(file, "\na"), (Ids{1}));
  EXPECT_EQ(Encoded(file, " a"), (Ids{1}));
  file["normalizer"] = {{"type", "Replace"}, {"pattern", {{"String", "c"}}}, {"content", ""}};
  EXPECT_EQ(Encoded(file, "ca"), (Ids{1}));
  EXPECT_EQ(Encoded(file, "ac"), (Ids{2}));
}

TEST(LanguageJson, AnUnknownWordIsAnErrorIfTheUnknownTokenIsMissing) {
  Json file = WordLevel();
  file["model"]["unk_token"] = "<none>";
  const auto ids = Read(file).value().Encode("e5", SpecialTokens::kAsText);
  ASSERT_FALSE(ids.ok());
  EXPECT_TRUE(Has(ids.error().message, "\"e5\""));
}

TEST(LanguageJson, AWordPieceModelMatchesTheLongestTokens) {
  EXPECT_EQ(Encoded(WordPiece(), "Unaffable \xe4\xb8\xad\xe4\xb8\xad!"), (Ids{0, 4, 4, 5}));
  EXPECT_EQ(Encoded(WordPiece(), "UNAFF un!"), (Ids{1, 2, 1, 5}));
  const Tokenizer tokenizer = Read(WordPiece()).value();
  EXPECT_EQ(tokenizer.Decode(Ids{1, 2, 3, 4, 5}).value(), "unaffable \xe4\xb8\xad!");
  EXPECT_EQ(tokenizer.TokenBytes(2), "aff");
  EXPECT_EQ(tokenizer.TokenBytes(5), "!");
}

TEST(LanguageJson, AUnigramModelFallsBackToBytes) {
  EXPECT_EQ(Encoded(Unigram(), "ab \xc3\xa9"), (Ids{258, 259, 257, 1 + 0xc3, 1 + 0xa9}));
  const Tokenizer tokenizer = Read(Unigram()).value();
  EXPECT_EQ(tokenizer.Decode(Ids{258, 259, 257, 1 + 0xc3, 1 + 0xa9}).value(), "ab \xc3\xa9");
  EXPECT_EQ(tokenizer.TokenBytes(1 + 0xc3), "\xc3");
  EXPECT_EQ(tokenizer.TokenBytes(258), " a");
}

TEST(LanguageJson, BytePairEncodingMayHaveANormalizerAndItsOwnPattern) {
  Json vocab = Json::object();
  for (int byte = 0; byte < 256; ++byte) {
    vocab[AlphabetFromBytes(std::string(1, static_cast<char>(byte)))] = byte;
  }
  vocab["12"] = 256;
  Json file = File({{"type", "BPE"}, {"vocab", vocab}, {"merges", {"1 2"}}});
  file["decoder"] = {{"type", "ByteLevel"}};
  file["normalizer"] = {{"type", "NFKC"}};
  file["pre_tokenizer"] = {
      {"type", "Sequence"},
      {"pretokenizers",
       {{{"type", "Split"}, {"pattern", {{"Regex", "\\p{N}{1,2}"}}}, {"behavior", "Isolated"}},
        {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}};
  EXPECT_EQ(Encoded(file, "3\xef\xbc\x91\xef\xbc\x92\x31"), (Ids{'3', '1', '2', '1'}));
  EXPECT_EQ(Encoded(file, "\xef\xbc\x91\xef\xbc\x92"), (Ids{256}));
}

TEST(LanguageJson, ABertVocabularyHasOneTokenPerLine) {
  const std::string vocab = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n\xe4\xb8\xad\r\nab\n##c\n";
  const auto read = [&](const std::string& config) {
    return ReadAnyTokenizer({.tokenizer_config = config, .vocab_txt = vocab}, 100);
  };
  const auto tokenizer = read("");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
  const auto encode = [&](const Tokenizer& by, TextEnds ends) {
    return by.Encode("ABC\xe4\xb8\xad[SEP]?", SpecialTokens::kAllowed, ends).value();
  };
  EXPECT_EQ(encode(tokenizer.value(), TextEnds::kWith), (Ids{2, 5, 6, 4, 3, 1, 3}));
  EXPECT_EQ(encode(tokenizer.value(), TextEnds::kBeginning), (Ids{2, 5, 6, 4, 3, 1}));
  const auto cased = read(R"({"do_lower_case": false, "unk_token": {"content": "[PAD]"}})");
  EXPECT_EQ(encode(cased.value(), TextEnds::kWithout), (Ids{0, 4, 3, 0}));
  EXPECT_TRUE(
      Has(read(R"({"tokenizer_class": "T5Tokenizer"})").error().message, "tokenizer_class"));
  const auto missing = ReadAnyTokenizer({.vocab_txt = "[UNK]\n[SEP]\n"}, 100);
  EXPECT_TRUE(Has(missing.error().message, "\"[CLS]\", the \"cls_token\""));
}

TEST(LanguageJson, ABertFolderHasTheAddedTokensOfAllItsFiles) {
  const std::string vocab = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nab\ncd\nab\n";
  const auto encode = [&](TokenizerFiles files, const std::string& text) -> Ids {
    files.vocab_txt = vocab;
    const auto tokenizer = ReadAnyTokenizer(files, 100);
    EXPECT_TRUE(tokenizer.ok()) << tokenizer.error().message;
    if (!tokenizer.ok()) return {};
    return tokenizer.value().Encode(text, SpecialTokens::kAllowed, TextEnds::kWith).value();
  };
  const std::string described = R"({"bos_token": "<s>", "additional_special_tokens": ["<sep>"],
      "added_tokens_decoder": {"7": {"content": "[NAME]", "special": false},
                               "6": {"content": "ab", "special": true, "normalized": false}}})";
  EXPECT_EQ(encode({.tokenizer_config = described}, "cd[NAME]cd<s><sep>ab"),
            (Ids{2, 5, 7, 5, 8, 9, 6, 3}));
  EXPECT_EQ(encode({.added_tokens = R"({"[NAME]": 7})"}, "cd[name]"), (Ids{2, 5, 7, 3}));
  const std::string roles =
      R"({"cls_token": "cd", "sep_token": {"content": "ab"}, "unk_token": "[PAD]"})";
  EXPECT_EQ(encode({.special_tokens_map = roles}, "?"), (Ids{5, 0, 6}));
  EXPECT_EQ(encode({.tokenizer_config = R"({"cls_token": "<s>"})"}, "cd"), (Ids{7, 5, 3}));
  // The map is older than "added_tokens_decoder".
  EXPECT_EQ(
      encode({.tokenizer_config = described, .special_tokens_map = R"({"cls_token": "cd"})"}, "ab"),
      (Ids{2, 6, 3}));
  const auto tokenizer = ReadAnyTokenizer({.tokenizer_config = described, .vocab_txt = vocab}, 100);
  EXPECT_EQ(tokenizer.value().Decode(Ids{5, 8, 9, 4}).value(), "cd <s> <sep> ab");
}

// As in `tokenizers`. The long names show a read past the end of one to the address sanitizer.
TEST(LanguageJson, NormalizationMayMakeAddedTokensEqualAndTheFirstSpecialOneIsUsed) {
  const std::string name(40, 'x'), upper(40, 'X');
  const auto added = [](int id, const std::string& content, bool is_special) {
    return Json{{"id", id}, {"content", content}, {"special", is_special}, {"normalized", true}};
  };
  Json file = WordLevel();
  file["normalizer"] = {{"type", "Lowercase"}};
  file["added_tokens"] = {added(3, upper, false), added(4, name, false),
                          added(5, "X" + name.substr(1), false)};
  EXPECT_EQ(Encoded(file, name), Ids{3});
  EXPECT_EQ(Encoded(file, name + std::string(1, '\0') + "y"), (Ids{3, 0}));
  file["added_tokens"][2]["special"] = true;
  EXPECT_EQ(Encoded(file, name), Ids{5});
}

TEST(LanguageJson, APrependedTextCountsTowardsTheLimitOfTheLength) {
  const Json prepend = {{"type", "Prepend"}, {"prepend", std::string(32, 'b')}};
  Json file = WordLevel();
  file["normalizer"] = {{"type", "Sequence"}, {"normalizers", {prepend}}};
  EXPECT_EQ(ErrorOf(file), "");
  file["normalizer"]["normalizers"].push_back(prepend);
  EXPECT_TRUE(Has(ErrorOf(file), "\"normalizer.normalizers[1].prepend\" is 32 bytes"));
}

TEST(LanguageJson, StepsThatMultiplyTheLengthOfTheTextAreRefused) {
  for (const Json& pattern : {Json{{"String", "b"}}, Json{{"Regex", "b"}}}) {
    const Json step = {
        {"type", "Replace"}, {"pattern", pattern}, {"content", std::string(32, 'b')}};
    Json file = WordLevel();
    file["normalizer"] = {{"type", "Sequence"}, {"normalizers", {step, step}}};
    EXPECT_EQ(ErrorOf(file), "");
    file["normalizer"]["normalizers"].push_back(step);
    EXPECT_TRUE(Has(ErrorOf(file), "\"normalizer.normalizers[2].content\" is 32 bytes"));
  }
}

TEST(LanguageJson, AnErrorNamesTheUnsupportedField) {
  const auto split = [](const Json& pattern) {
    return Json{{"type", "Split"}, {"pattern", pattern}, {"behavior", "Isolated"}};
  };
  struct Row {
    Json patch;
    const char* why;
  };
  const Row rows[] = {
      {{{"normalizer", {{"type", "Nmt"}}}}, "\"normalizer.type\" is \"Nmt\""},
      {{{"pre_tokenizer", {{"type", "UnicodeScripts"}}}}, "\"pre_tokenizer.type\""},
      {{{"model", {{"type", "Other"}}}}, "\"model.type\" is \"Other\""},
      {{{"model", {{"cache", 1}}}}, "unknown member \"cache\""},
      {{{"pre_tokenizer", split({{"Regex", "\\d"}})}}, "an unknown escape before \"d\""},
      {{{"pre_tokenizer", split({{"Regex", "(a*)*b"}})}}, "the operator \"(\""},
      {{{"pre_tokenizer", split({{"Regex", "a"}, {"String", "b"}})}}, "\"pre_tokenizer.pattern\""},
      {{{"decoder", {{"type", "CTC"}}}}, "\"decoder.type\""}};
  for (const auto& [patch, why] : rows) {
    Json file = WordLevel();
    file.merge_patch(patch);
    EXPECT_TRUE(Has(ErrorOf(file), why));
  }
}

// The text of a token would depend on the tokens after it, which a generation does not know.
TEST(LanguageJson, ADecoderThatNeedsLaterTokensIsRefused) {
  const Json fuse = {{"type", "Fuse"}};
  const Json strip = {{"type", "Strip"}, {"content", " "}, {"start", 0}, {"stop", 1}};
  const Json cleaning = {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}};
  const Json joining = {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", false}};
  const Json bytes = {{"type", "ByteFallback"}};
  const Json two = {{"type", "Replace"}, {"pattern", {{"String", "ab"}}}, {"content", "c"}};
  const Json one = {{"type", "Replace"}, {"pattern", {{"String", "\u2581"}}}, {"content", " "}};
  const auto error_of = [](const Json& first, const Json& second) {
    Json file = WordLevel();
    file["decoder"] = {{"type", "Sequence"}, {"decoders", {first, second}}};
    return ErrorOf(file);
  };
  for (const Json& step : {strip, cleaning, bytes, two, one}) EXPECT_EQ(error_of(step, fuse), "");
  for (const Json& step : {one, joining}) EXPECT_EQ(error_of(fuse, step), "");
  EXPECT_TRUE(
      Has(error_of(fuse, strip), "\"decoder.decoders[1].stop\" is 1, expected 0 after \"Fuse\""));
  EXPECT_TRUE(
      Has(error_of(fuse, cleaning), "[1].cleanup\" is true, expected false after \"Fuse\""));
  EXPECT_TRUE(Has(error_of(fuse, two), "[1].pattern\" is \"ab\", expected one character after"));
  EXPECT_TRUE(Has(error_of(fuse, bytes), "expected a step that can follow \"Fuse\""));
  EXPECT_TRUE(Has(error_of(joining, bytes), "expected a step that can follow \"WordPiece\""));
}

}  // namespace
}  // namespace gpt2
