#include "engine/text/utf8.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "engine/format/json.h"
#include "tests/support/slow_builds.h"

namespace gpt2 {
namespace {

TEST(Utf8Stream, ReturnsOnlyWholeCharacters) {
  const std::string text = "aé漢😀!";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    Utf8Stream stream;
    std::string out;
    for (std::size_t at = 0; at < text.size(); at += piece) {
      const std::string shown = stream.Push(std::string_view(text).substr(at, piece));
      for (std::string_view rest = shown; !rest.empty();) {
        const Utf8Character character = ReadUtf8(rest);
        EXPECT_NE(character.code_point, kInvalidCodePoint);
        rest.remove_prefix(character.size);
      }
      out += shown;
    }
    EXPECT_EQ(out + stream.Flush(), text);
  }
}

TEST(Utf8Stream, InvalidBytesBecomeReplacementCharacters) {
  Utf8Stream stream;
  EXPECT_EQ(stream.Push("a\xff"
                        "b"),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(stream.Push("\xe2\x82"), "");  // could become a euro sign
  EXPECT_EQ(stream.Push("x"),
            "\xef\xbf\xbd"
            "x");
  EXPECT_EQ(stream.Push("\xf0\x9f"), "");
  EXPECT_EQ(stream.Flush(), "\xef\xbf\xbd");
  EXPECT_EQ(stream.Push("\xe0\x80"), "\ufffd\ufffd");  // overlong: nothing completes it
}

std::string WithReplacements(const std::string& bytes) {
  std::string text;
  AppendUtf8(bytes, text);
  return text;
}

// An example of the Unicode Standard (version 15, table 3-8).
TEST(AppendUtf8, WritesOneReplacementPerMaximalSubpart) {
  EXPECT_EQ(WithReplacements("\x61\xf1\x80\x80\xe1\x80\xc2\x62\x80\x63\x80\xbf\x64"),
            "a\ufffd\ufffd\ufffdb\ufffdc\ufffd\ufffdd");
}

// Compares four bytes, each from every relevant range, with another decoder.
TEST(AppendUtf8, ReplacesTheSameBytesAsNlohmannJson) {
  const std::string each =
      "a\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc1\xc2\xdf\xe0\xe1\xec\xed\xee\xef\xf0\xf1\xf3\xf4\xf5"
      "\xff";
  const auto replaced = [](const std::string& bytes) {
    const std::string quoted = Json(bytes).dump(-1, ' ', false, Json::error_handler_t::replace);
    return quoted.substr(1, quoted.size() - 2);
  };
  const std::string last = testing::kIsSlow ? "a\x80\xbf\xf0" : each;
  for (const char a : each) {
    for (const char b : each) {
      for (const char c : each) {
        for (const char d : last) {
          const std::string bytes = {a, b, c, d};
          ASSERT_EQ(WithReplacements(bytes), replaced(bytes));
        }
      }
    }
  }
}

// The encoding of RFC 3629.
std::string Encode(char32_t c) {
  const auto first = [](char32_t bits) { return static_cast<char>(bits); };
  const auto next = [c](int shift) { return static_cast<char>(0x80 | (c >> shift & 0x3f)); };
  if (c < 0x80) return {first(c)};
  if (c < 0x800) return {first(0xc0 | c >> 6), next(0)};
  if (c < 0x10000) return {first(0xe0 | c >> 12), next(6), next(0)};
  return {first(0xf0 | c >> 18), next(12), next(6), next(0)};
}

bool IsSurrogate(char32_t c) {
  return c >= 0xd800 && c <= 0xdfff;
}

TEST(ReadUtf8, ReadsEveryCharacterAndReturnsItsSize) {
  for (char32_t c = 0; c <= 0x10ffff; ++c) {
    if (IsSurrogate(c)) continue;
    const std::string text = Encode(c) + "x";
    const std::string_view bytes = text;
    const std::size_t size = bytes.size() - 1;
    const Utf8Character character = ReadUtf8(bytes);
    ASSERT_EQ(character.code_point, c);
    ASSERT_EQ(character.size, size);
    if (size == 1) continue;
    // Without its last byte it is no character.
    ASSERT_EQ(ReadUtf8(bytes.substr(0, size - 1)).code_point, kInvalidCodePoint);
  }
}

TEST(ReadUtf8, RefusesAllOtherFirstBytes) {
  std::set<std::string> beginnings;
  const auto add = [&](char32_t from, char32_t end, char32_t step) {
    for (char32_t c = from; c < end; c += step) {
      if (!IsSurrogate(c)) beginnings.insert(Encode(c).substr(0, 2));
    }
  };
  add(0, 0x800, 1);
  add(0x800, 0x10000, 1 << 6);  // the bytes after the second hold the other bits
  add(0x10000, 0x110000, 1 << 12);
  for (int lead = 0x80; lead < 256; ++lead) {
    for (int second = 0; second < 256; ++second) {
      const std::string two = {static_cast<char>(lead), static_cast<char>(second)};
      const bool is_valid = ReadUtf8(two + "\x80\xbf").code_point != kInvalidCodePoint;
      EXPECT_EQ(is_valid, beginnings.contains(two)) << lead << " " << second;
    }
  }
}

}  // namespace
}  // namespace gpt2
