#include "engine/languages/sentence_piece.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "engine/languages/protobuf.h"
#include "engine/languages/text_models.h"
#include "engine/text/tokenizer.h"
#include "tests/support/charsmap_writer.h"
#include "tests/support/has.h"
#include "tests/support/protobuf_writer.h"

namespace gpt2 {
namespace {

using Ids = std::vector<std::int32_t>;

const std::string kSpaceMark = "\xe2\x96\x81";
enum PieceType { kNormal = 1, kUnknown, kControl, kUserDefined, kUnused, kByte };

std::string PieceField(const std::string& text, float score, PieceType type = kNormal) {
  return BytesField(1, BytesField(1, text) + FloatField(2, score) + NumberField(3, type));
}

// The pieces with the ids 0 to 9.
std::string AllPieces() {
  return PieceField("<unk>", 0, kUnknown) + PieceField("<s>", 0, kControl) +
         PieceField("</s>", 0, kControl) + PieceField("<user>", 0, kUserDefined) +
         PieceField(kSpaceMark, -2) + PieceField(kSpaceMark + "ab", -3) + PieceField("a", -4) +
         PieceField("b", -4) + PieceField("<", -5) + PieceField("never", -1, kUnused);
}

std::string ModelFile(const std::string& trainer = "", const std::string& normalizer = "") {
  return AllPieces() + BytesField(2, NumberField(3, 1) + trainer) + BytesField(3, normalizer);
}

Result<Tokenizer> ReadModel(const std::string& file, const std::string& config = "",
                            std::size_t vocab_size = 1000) {
  return ReadSentencePiece({.tokenizer_config = config, .sentence_piece = file}, vocab_size);
}

std::string RefusalOf(const std::string& file, const std::string& config = "") {
  const auto tokenizer = ReadModel(file, config);
  return tokenizer.ok() ? "" : tokenizer.error().message;
}

Ids EncodedBy(const Result<Tokenizer>& tokenizer, const std::string& text,
              SpecialTokens special = SpecialTokens::kAllowed, TextEnds ends = TextEnds::kWith) {
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.error().message;
  if (!tokenizer.ok()) return {};
  return tokenizer.value().Encode(text, special, ends).value();
}

constexpr const char* kT5Config = R"({"tokenizer_class": "T5Tokenizer", "extra_ids": 0})";

TEST(SentencePiece, WordsBeginWithASpaceAndRepeatedSpacesCountAsOne) {
  const auto tokenizer = ReadModel(ModelFile());
  EXPECT_EQ(EncodedBy(tokenizer, "ab  ab"), (Ids{5, 5}));
  EXPECT_EQ(EncodedBy(tokenizer, "  ab  "), (Ids{5}));
  EXPECT_EQ(EncodedBy(tokenizer, "ba c"), (Ids{4, 7, 6, 4, 0}));
  EXPECT_EQ(tokenizer.value().Decode(Ids{5, 4, 7}).value(), "ab b");
  EXPECT_EQ(tokenizer.value().TokenBytes(5), " ab");
}

TEST(SentencePiece, ControlPiecesMatchOnlyIfAllowedAndUserSymbolsAlways) {
  const auto tokenizer = ReadModel(ModelFile());
  EXPECT_EQ(EncodedBy(tokenizer, "a<s><user>"), (Ids{4, 6, 1, 3}));
  const Ids as_text = EncodedBy(tokenizer, "a<s><user>", SpecialTokens::kAsText);
  EXPECT_EQ(as_text, (Ids{4, 6, 8, 0, 3}));
  EXPECT_EQ(EncodedBy(tokenizer, "never"), (Ids{4, 0}));
}

TEST(SentencePiece, AT5TokenizerAppendsAnEndAndHasExtraIds) {
  const auto tokenizer =
      ReadModel(ModelFile(), R"({"tokenizer_class": "T5Tokenizer", "extra_ids": 2})");
  EXPECT_EQ(EncodedBy(tokenizer, "ab<extra_id_0><extra_id_1>"), (Ids{5, 11, 10, 2}));
  EXPECT_EQ(EncodedBy(tokenizer, "ab", SpecialTokens::kAsText, TextEnds::kBeginning), (Ids{5}));
  const auto usual = ReadModel(ModelFile(), R"({"tokenizer_class": "T5Tokenizer"})");
  EXPECT_EQ(EncodedBy(usual, "<extra_id_99>"), (Ids{10, 2}));
  const auto other_end = ReadSentencePiece({.tokenizer_config = kT5Config,
                                            .special_tokens_map = R"({"eos_token": "<s>"})",
                                            .sentence_piece = ModelFile()},
                                           1000);
  EXPECT_EQ(EncodedBy(other_end, "ab"), (Ids{5, 1}));
  EXPECT_TRUE(Has(
      RefusalOf(ModelFile(), R"({"tokenizer_class": "T5Tokenizer", "eos_token": "<e>"})"), "<e>"));
  EXPECT_TRUE(
      Has(RefusalOf(ModelFile(), R"({"tokenizer_class": "LlamaTokenizer"})"), "tokenizer_class"));
  EXPECT_TRUE(Has(RefusalOf(ModelFile(), R"({"tokenizer_class": "T5Tokenizer", "extra_ids": 1e9})"),
                  "\"extra_ids\" is"));
}

TEST(SentencePiece, TokenizerConfigSetsLowerCaseAndThePrefixSpace) {
  EXPECT_EQ(EncodedBy(ReadModel(ModelFile(), R"({"do_lower_case": true})"), "AB"), (Ids{5}));
  EXPECT_EQ(EncodedBy(ReadModel(ModelFile(), kT5Config), "AB"), (Ids{4, 0, 2}));
  EXPECT_EQ(EncodedBy(ReadModel(ModelFile(), R"({"legacy": false})"), "<s>ab ab"),
            (Ids{1, 6, 7, 5}));
  EXPECT_EQ(EncodedBy(ReadModel(ModelFile(), R"({"add_prefix_space": false})"), "ab ab"),
            (Ids{6, 7, 5}));
}

TEST(SentencePiece, TheFileSetsWhichSpacesAreKept) {
  constexpr std::uint32_t kAddDummyPrefix = 3, kRemoveExtraWhitespaces = 4;
  const std::string no_prefix = NumberField(kAddDummyPrefix, 0);
  const std::string keeps = NumberField(kRemoveExtraWhitespaces, 0);
  EXPECT_EQ(EncodedBy(ReadModel(ModelFile("", no_prefix)), " ab  ab "), (Ids{6, 7, 5}));
  const auto kept = ReadModel(ModelFile("", keeps));
  EXPECT_EQ(EncodedBy(kept, " ab  ab "), (Ids{4, 5, 4, 5, 4}));
  EXPECT_EQ(kept.value().Decode(Ids{4, 5, 4, 5, 4}).value(), " ab  ab ");
  const auto plain = ReadModel(ModelFile("", no_prefix + keeps));
  EXPECT_EQ(EncodedBy(plain, " ab  "), (Ids{5, 4, 4}));
  EXPECT_EQ(plain.value().Decode(Ids{5, 4, 4}).value(), " ab  ");
}

TEST(SentencePiece, TextWithoutAPieceFallsBackToBytePieces) {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) {
    bytes += PieceField(ByteTokenName(static_cast<unsigned char>(byte)), 0, kByte);
  }
  constexpr std::uint32_t kByteFallback = 35;
  const auto tokenizer = ReadModel(
      bytes + AllPieces() + BytesField(2, NumberField(kByteFallback, 1) + NumberField(40, 256)));
  EXPECT_EQ(EncodedBy(tokenizer, "\xc3\xa9"), (Ids{260, 0xc3, 0xa9}));
  EXPECT_EQ(EncodedBy(tokenizer, "<0x41>").size(), 7u);
  EXPECT_EQ(tokenizer.value().Decode(Ids{260, 0xc3, 0xa9}).value(), "\xc3\xa9");
  EXPECT_EQ(tokenizer.value().TokenBytes(0xc3), "\xc3");
}

TEST(SentencePiece, ACharacterMapNormalizesTheText) {
  const std::string wide_a = "\xef\xbc\xa1", mark = "\xcc\x81";
  const std::string map = WriteCharsMap({{wide_a, "a"}, {"B", "b"}, {"\x01", ""}});
  const auto tokenizer = ReadModel(ModelFile("", BytesField(2, map)));
  EXPECT_EQ(EncodedBy(tokenizer, wide_a + "\x01" + "B"), (Ids{5}));
  // As in `tokenizers`, a grapheme of less than six bytes is looked up as a whole.
  EXPECT_EQ(EncodedBy(tokenizer, wide_a + "B" + mark), (Ids{5}));
  EXPECT_EQ(EncodedBy(tokenizer, wide_a + "B" + mark + mark + mark), (Ids{5, 0}));
  // What follows a removed start is still the first word.
  const auto first = ReadModel(ModelFile("", BytesField(2, map)), R"({"legacy": false})");
  EXPECT_EQ(EncodedBy(first, "\x01\x01" + wide_a + "B"), (Ids{5}));
  EXPECT_EQ(EncodedBy(first, "<s>\x01" + wide_a + "B"), (Ids{1, 6, 7}));
  EXPECT_EQ(EncodedBy(first, "\x01"), (Ids{}));
}

TEST(SentencePiece, AModelThatIsNotUnigramIsRefusedByName) {
  for (const auto& [type, name] :
       std::vector<std::pair<int, std::string>>{{2, "BPE"}, {3, "WORD"}, {4, "CHAR"}, {9, "?"}}) {
    const std::string file = AllPieces() + BytesField(2, NumberField(3, type));
    EXPECT_TRUE(Has(RefusalOf(file), "spiece.model: \"model_type\" is " + name));
  }
}

TEST(SentencePiece, UnsupportedSettingsAreRefusedByName) {
  EXPECT_TRUE(
      Has(RefusalOf(ModelFile(NumberField(24, 1))), "\"treat_whitespace_as_suffix\" is true"));
  EXPECT_TRUE(Has(RefusalOf(ModelFile("", NumberField(5, 0))), "\"escape_whitespaces\" is false"));
  EXPECT_TRUE(Has(RefusalOf(ModelFile() + BytesField(5, BytesField(2, "x"))), "denormalizer_spec"));
  EXPECT_TRUE(Has(RefusalOf(ModelFile() + PieceField("x", 0, static_cast<PieceType>(7))),
                  "has the type 7"));
}

TEST(SentencePiece, ADamagedFileIsAnError) {
  const std::string whole = ModelFile();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto tokenizer = ReadModel(whole.substr(0, size));
    if (tokenizer.ok()) continue;  // a file without one field
    EXPECT_TRUE(Has(tokenizer.error().message, "spiece.model"));
  }
  EXPECT_TRUE(Has(RefusalOf(""), "no pieces"));
  EXPECT_TRUE(Has(RefusalOf(ModelFile() + PieceField("a", 0)), "two pieces \"a\""));
  EXPECT_TRUE(Has(RefusalOf(ModelFile() + PieceField("", 0)), "1 to 512 bytes"));
  EXPECT_TRUE(Has(RefusalOf(ModelFile() + PieceField("\xff", 0)), "UTF-8"));
  EXPECT_TRUE(Has(RefusalOf(ModelFile() + PieceField(std::string(513, 'x'), 0)), "512"));
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(Has(RefusalOf(ModelFile() + PieceField("x", infinity)), "not finite"));
  EXPECT_TRUE(Has(RefusalOf(ModelFile(NumberField(40, 3))), "\"unk_id\" is 3"));
  EXPECT_TRUE(Has(RefusalOf(ModelFile(NumberField(40, 99))), "\"unk_id\" is 99"));
  EXPECT_TRUE(Has(RefusalOf(ModelFile(NumberField(40, ~std::uint64_t{0}))), "\"unk_id\""));
  EXPECT_TRUE(Has(RefusalOf(ModelFile(BytesField(40, "x"))), "an unexpected wire type"));
  EXPECT_TRUE(Has(RefusalOf(ModelFile() + "\x0b"), "wire type 3"));
  EXPECT_TRUE(Has(RefusalOf(ModelFile() + std::string(11, '\xff')), "10 bytes"));
  EXPECT_TRUE(Has(ReadModel(ModelFile(), "", 9).error().message, "vocab_size"));
}

TEST(SentencePiece, ADamagedCharacterMapIsAnError) {
  const std::string map = WriteCharsMap({{"B", "b"}});
  const auto with = [](const std::string& bytes) {
    return ReadModel(ModelFile("", BytesField(2, bytes)));
  };
  for (const std::string& bytes : {std::string("\1\0\0", 3), std::string("\5\0\0\0.....", 9),
                                   std::string("\xff\xff\xff\x7f", 4), std::string("\0\0\0\0", 4),
                                   map + "\xff", map + std::string(300, 'x')}) {
    EXPECT_TRUE(Has(with(bytes).error().message, "precompiled_charsmap"));
  }
  // The root's offset is far beyond the end.
  const auto far = with(std::string("\4\0\0\0\0\xfe\xff\x7f", 8));
  EXPECT_TRUE(Has(far.value().Encode("B", SpecialTokens::kAsText).error().message, "damaged"));
}

}  // namespace
}  // namespace gpt2
