#include "engine/text/utf8.h"

#include <gtest/gtest.h>

namespace gpt2 {
namespace {

TEST(Utf8Stream, NeverGivesHalfACharacter) {
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

TEST(Utf8Stream, BytesThatAreNoCharacterBecomeReplacements) {
  Utf8Stream stream;
  EXPECT_EQ(stream.Push("a\xff"
                        "b"),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(stream.Push("\xe2\x82"), "");  // could become a euro sign
  EXPECT_EQ(stream.Push("x"),
            "\xef\xbf\xbd\xef\xbf\xbd"
            "x");
  EXPECT_EQ(stream.Push("\xf0\x9f"), "");
  EXPECT_EQ(stream.Flush(), "\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(ReadUtf8, RefusesOverlongSurrogateAndTooLarge) {
  for (const std::string_view text :
       {"\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80"}) {
    EXPECT_EQ(ReadUtf8(text).code_point, kInvalidCodePoint);
  }
  EXPECT_EQ(ReadUtf8("\xf4\x8f\xbf\xbf").code_point, 0x10ffffu);
  EXPECT_EQ(ReadUtf8("é").code_point, 0xe9u);
}

}  // namespace
}  // namespace gpt2
