#include "engine/languages/pattern.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/has.h"

namespace gpt2 {
namespace {

// The matches, with "|" between them.
std::string Matches(const std::string& expression, const std::string& text) {
  const auto pattern = Pattern::Read(expression);
  if (!pattern.ok()) return "refused: " + pattern.error().message;
  std::size_t steps_left = Pattern::StepsFor(text);
  std::string all;
  for (std::size_t at = 0;;) {
    const auto match = pattern.value().Find(text, at, steps_left);
    if (!match.ok()) return match.error().message;
    if (!match.value()) return all;
    if (!all.empty()) all += '|';
    all += text.substr(match.value()->begin, match.value()->end - match.value()->begin);
    at = match.value()->end;
  }
}

TEST(Pattern, TakesTheFirstAlternativeAndRepeatsGreedily) {
  EXPECT_EQ(Matches("ab|abc|c", "abcab"), "ab|c|ab");
  EXPECT_EQ(Matches("a{2,3}|b", "aaaaab"), "aaa|aa|b");
  EXPECT_EQ(Matches("a*ab", "aaab"), "aaab");
  EXPECT_EQ(Matches("(?:ab)?c", "abcc"), "abc|c");
}

TEST(Pattern, SupportsTheCharacterClassesOfTokenizers) {
  EXPECT_EQ(Matches(" ?\\p{L}+|\\p{N}{1,3}|[^\\s\\p{L}\\p{N}]+",
                    "Stra\xc3\x9f"
                    "e 12345?!"),
            "Stra\xc3\x9f"
            "e|123|45|?!");
  EXPECT_EQ(Matches("\\s+(?!\\S)|\\s+", "a  b "), " | | ");
  EXPECT_EQ(Matches("(?i:'s|k)", "'S \xe2\x84\xaa '\xc5\xbf"), "'S|\xe2\x84\xaa|'\xc5\xbf");
  EXPECT_EQ(Matches("[a-c\\-]", "a-d"), "a|-");
}

TEST(Pattern, UnsupportedSyntaxIsRefusedByName) {
  for (const char* expression :
       {"(a)", "a+?", "a++",         "(?:ab)+", "\\p{Lu}",     "\\d",       "^a",
        "a$",  ".",   "[[:alpha:]]", "(?<=a)b", "(?!ab)c",     "(?i:pass)", "(?i:a(?:F)|Fl)",
        "a{2", "[a",  "(?:a",        "a)",      "[\\S\\P{L}]", "[b-a]",     "a\\"}) {
    EXPECT_EQ(Matches(expression, "").rfind("refused: it has ", 0), 0u) << expression;
  }
  for (const char* expression : {"", "a*", "a|", "(?:a)?"}) {
    EXPECT_EQ(Matches(expression, ""), "refused: it can match the empty string") << expression;
  }
}

TEST(Pattern, ASlowExpressionIsStoppedWithAnError) {
  EXPECT_TRUE(Has(Matches("a*a*a*b", std::string(10'000, 'a')), "takes too long"));
}

}  // namespace
}  // namespace gpt2
