#include "engine/convert/gguf_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "engine/base/concat.h"
#include "tests/support/has.h"

namespace gpt2 {
namespace {

constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();

std::string Whole(std::uint64_t value, int size) {
  std::string bytes;
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}
std::string Text(const std::string& text) {
  return Whole(text.size(), 8) + text;
}
std::string Pair(const std::string& key, std::uint32_t type, const std::string& value) {
  return Text(key) + Whole(type, 4) + value;
}
std::string Array(std::uint32_t type, std::uint64_t count, const std::string& elements) {
  return Whole(type, 4) + Whole(count, 8) + elements;
}
std::string Start(std::uint64_t tensors, std::uint64_t pairs) {
  return "GGUF" + Whole(3, 4) + Whole(tensors, 8) + Whole(pairs, 8);
}
// A file of these pairs and no tensor.
std::string FileOf(const std::vector<std::string>& pairs) {
  std::string file = Start(0, pairs.size());
  for (const std::string& pair : pairs) file += pair;
  return file;
}

// The reader's error for `file`, fed in chunks of `size`; "" if there is none.
std::string GgufErrorOf(const std::string& file, std::size_t size = 7) {
  GgufReader reader;
  for (std::size_t at = 0; at < file.size(); at += size) {
    auto bytes = std::as_bytes(std::span(file)).subspan(at, std::min(size, file.size() - at));
    const Status status = reader.Take(bytes);
    if (!status.ok()) return status.error().message;
  }
  return reader.is_done() ? "" : "it is not whole";
}

void ExpectRefused(const std::string& file, const std::string& part) {
  EXPECT_TRUE(Has(GgufErrorOf(file), part)) << GgufErrorOf(file) << "\nnot: " << part;
  EXPECT_EQ(GgufErrorOf(file, file.size()), GgufErrorOf(file));
}

constexpr std::uint32_t kUint32 = 4, kFloat32 = 6, kBool = 7, kText = 8, kArray = 9, kUint64 = 10;

TEST(GgufReader, TooLargeCountsAreRefusedBeforeTheirDataIsRead) {
  ExpectRefused(Start(kHuge, 0), "18446744073709551615 tensors, expected at most 16384");
  ExpectRefused(Start(0, kHuge), "18446744073709551615 entries of metadata, expected at most 4096");
  ExpectRefused(Start(0, 1) + Whole(kHuge, 8),
                "the text \"key\" has 18446744073709551615 bytes, expected at most 65535");
  ExpectRefused(Start(0, 1) + Pair("general.name", kText, Whole(1 << 21, 8)),
                "the text \"general.name\" has 2097152 bytes, expected at most 1048576");
  ExpectRefused(Start(0, 1) + Pair("k", kArray, Array(kText, kHuge, "")),
                "\"k\" has 18446744073709551615 elements, expected at most 16777216");
  ExpectRefused(Start(0, 1) + Pair("k", kArray, Array(kText, 1, Whole(kHuge, 8))),
                "the text \"k\" has 18446744073709551615 bytes, expected at most 65536");
  ExpectRefused(Start(1, 0) + Whole(300, 8) + std::string(400, 'x'),
                "the text \"tensor name\" has 300 bytes, expected at most 256");
}

TEST(GgufReader, MoreThanFourDimensionsAreRefused) {
  ExpectRefused(Start(1, 0) + Text("t") + Whole(5, 4),
                "tensor \"t\" has 5 dimensions, expected at most 4");
  ExpectRefused(Start(1, 0) + Text("t") + Whole(0xffffffff, 4), "has 4294967295 dimensions");
}

TEST(GgufReader, ADimensionOf2To63IsPrintedExactly) {
  ExpectRefused(Start(1, 0) + Text("t") + Whole(1, 4) + Whole(std::uint64_t{1} << 63, 8),
                "has a dimension of 9223372036854775808");
}

TEST(GgufReader, ADuplicateKeyIsRefused) {
  const std::string number = Whole(1, 4);
  const std::string texts = Array(kText, 1, Text("a"));
  for (const std::string key : {"general.alignment", "a.key.that.nobody.knows"}) {
    ExpectRefused(FileOf({Pair(key, kUint32, number), Pair(key, kUint32, number)}),
                  "\"" + key + "\" occurs twice");
  }
  for (const std::string key : {"tokenizer.ggml.tokens", "tokenizer.ggml.merges", "another"}) {
    ExpectRefused(FileOf({Pair(key, kArray, texts), Pair(key, kArray, texts)}),
                  "\"" + key + "\" occurs twice");
  }
  const std::string none = Array(kText, 0, "");
  ExpectRefused(FileOf({Pair("k", kArray, none), Pair("k", kUint32, number)}),
                "\"k\" occurs twice");
}

TEST(GgufReader, AnAlignmentThatIsNoPowerOfTwoIsRefused) {
  const std::string key = "general.alignment";
  for (const std::uint32_t good : {1u, 8u, 32u, 4096u, 65536u}) {
    EXPECT_EQ(GgufErrorOf(FileOf({Pair(key, kUint32, Whole(good, 4))})), "") << good;
  }
  for (const std::uint32_t bad : {0u, 3u, 33u, 1u << 17, 1u << 31, 0xffffffffu}) {
    ExpectRefused(FileOf({Pair(key, kUint32, Whole(bad, 4))}),
                  Concat("\"general.alignment\" is ", bad, " (uint32), expected a power of two"));
  }
  const auto bits = std::bit_cast<std::uint32_t>(std::numeric_limits<float>::quiet_NaN());
  ExpectRefused(FileOf({Pair(key, kFloat32, Whole(bits, 4))}),
                "\"general.alignment\" is a float32, expected a finite number");
  const auto float_bits = std::bit_cast<std::uint32_t>(32.0f);
  ExpectRefused(FileOf({Pair(key, kFloat32, Whole(float_bits, 4))}),
                "\"general.alignment\" is 32 (float32), expected a power of two");
  ExpectRefused(FileOf({Pair(key, kUint64, Whole(32, 8))}), "\"general.alignment\" is 32 (uint64)");
}

TEST(GgufReader, AValueOfTheWrongTypeIsRefusedByName) {
  const std::string text = Text("32");
  const std::string no_text = Array(kUint32, 0, "");
  ExpectRefused(FileOf({Pair("general.alignment", kText, text)}),
                "\"general.alignment\" is text, expected a finite number");
  ExpectRefused(FileOf({Pair("gpt2.block_count", kBool, Whole(1, 1))}),
                "\"gpt2.block_count\" is bool, expected a finite number");
  ExpectRefused(FileOf({Pair("gpt2.block_count", kArray, no_text)}),
                "\"gpt2.block_count\" is array, expected a finite number");
  ExpectRefused(FileOf({Pair("general.architecture", kUint32, Whole(1, 4))}),
                "\"general.architecture\" is a uint32, expected text");
  ExpectRefused(FileOf({Pair("general.architecture", kArray, no_text)}),
                "\"general.architecture\" is array, expected text");
  ExpectRefused(FileOf({Pair("tokenizer.ggml.tokens", kArray, no_text)}),
                "\"tokenizer.ggml.tokens\" is an array of uint32, expected an array of text");
  ExpectRefused(FileOf({Pair("tokenizer.ggml.token_type", kArray, Array(kText, 0, ""))}),
                "\"tokenizer.ggml.token_type\" is an array of text, expected an array of numbers");
  ExpectRefused(FileOf({Pair("tokenizer.ggml.merges", kText, text)}),
                "\"tokenizer.ggml.merges\" is text, expected an array");
  ExpectRefused(FileOf({Pair("k", 13, "")}), "the value of \"k\" has the unknown type 13");
  ExpectRefused(FileOf({Pair("k", kArray, Array(kArray, 1, ""))}),
                "the elements of \"k\" have the unsupported type 9");
}

TEST(Concat, WritesTheExtremesOfEachIntegerType) {
  EXPECT_EQ(Concat(kHuge, " ", std::numeric_limits<std::int64_t>::min(), " ", -1, " ", 0u),
            "18446744073709551615 -9223372036854775808 -1 0");
}

}  // namespace
}  // namespace gpt2
