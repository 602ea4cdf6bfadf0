#include "engine/text/quoted.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace gpt2 {
namespace {

TEST(Quoted, EscapesTextLikeJson) {
  EXPECT_EQ(Quoted("a\"b\\c\n\x1b"), R"("a\"b\\c\u000a\u001b")");
  EXPECT_EQ(Quoted("\xe2\x82\xac \xf0\x9f\x98\x80"), "\"\xe2\x82\xac \xf0\x9f\x98\x80\"");
}

TEST(Quoted, TruncatesALongTextAndStatesItsLength) {
  const std::string quoted = Quoted(std::string(100, 'x'));
  EXPECT_TRUE(quoted.ends_with("x\"... (100 bytes)")) << quoted;
  EXPECT_EQ(std::ranges::count(quoted, 'x'), 80);
}

TEST(Visible, EscapesControlCharacters) {
  EXPECT_EQ(Visible("\x1b]0;x\x07\r\n\t\x7f"), R"(\u001b]0;x\u0007\u000d\u000a\u0009\u007f)");
  EXPECT_EQ(Visible("\xc2\x9b"), R"(\u009b)");  // CSI in one character
  EXPECT_EQ(Visible("a\xe2\x80\xae\xe2\x81\xa6z"), R"(a\u202e\u2066z)");
  EXPECT_EQ(Visible("\xe2\x80\xa8\xef\xbb\xbf"), R"(\u2028\ufeff)");
  EXPECT_EQ(Visible("\xf3\xa0\x81\x81"), R"(\udb40\udc41)");  // a tag, above U+FFFF
}

TEST(Visible, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(Visible("a\x9b\xff z"), "a\xef\xbf\xbd\xef\xbf\xbd z");
}

TEST(Visible, KeepsTextAndTheGivenCharacters) {
  EXPECT_EQ(Visible("\"\\ \xc3\xa9\xe2\x82\xac"), "\"\\ \xc3\xa9\xe2\x82\xac");
  EXPECT_EQ(Visible("a\n\tb\x1b", "\n\t"), "a\n\tb\\u001b");
}

}  // namespace
}  // namespace gpt2
