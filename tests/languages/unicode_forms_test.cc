#include "engine/languages/unicode_forms.h"

#include <gtest/gtest.h>

#include <string>

namespace gpt2 {
namespace {

// The examples of UAX #15, figures 3 to 6.
TEST(UnicodeForms, MatchTheExamplesOfTheStandard) {
  const std::string ring = "\xe2\x84\xab", a_ring = "\xc3\x85", decomposed = "A\xcc\x8a";
  EXPECT_EQ(InForm(UnicodeForm::kNfd, ring), decomposed);
  EXPECT_EQ(InForm(UnicodeForm::kNfc, ring), a_ring);
  EXPECT_EQ(InForm(UnicodeForm::kNfc, decomposed), a_ring);
  const std::string ligature = "\xef\xac\x81";  // fi
  EXPECT_EQ(InForm(UnicodeForm::kNfd, ligature), ligature);
  EXPECT_EQ(InForm(UnicodeForm::kNfkd, ligature), "fi");
  // A long s with a dot above and a dot below: the marks change places.
  const std::string long_s = "\xe1\xba\x9b\xcc\xa3";
  EXPECT_EQ(InForm(UnicodeForm::kNfd, long_s), "\xc5\xbf\xcc\xa3\xcc\x87");
  EXPECT_EQ(InForm(UnicodeForm::kNfc, long_s), long_s);
  EXPECT_EQ(InForm(UnicodeForm::kNfkc, long_s), "\xe1\xb9\xa9");
}

TEST(UnicodeForms, HangulSyllablesAreComposedAndDecomposed) {
  const std::string syllable = "\xed\x95\x9c", parts = "\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab";
  EXPECT_EQ(InForm(UnicodeForm::kNfd, syllable), parts);
  EXPECT_EQ(InForm(UnicodeForm::kNfc, parts), syllable);
}

TEST(UnicodeForms, InvalidBytesAreKept) {
  EXPECT_EQ(InForm(UnicodeForm::kNfkc, "\xff\xc3 \xe1\x84"), "\xff\xc3 \xe1\x84");
}

TEST(UnicodeForms, LowerCaseMapsEachCharacterSeparately) {
  EXPECT_EQ(Lowercased("A\xc3\x89 \xce\xa3\xce\x91\xce\xa3"), "a\xc3\xa9 \xcf\x83\xce\xb1\xcf\x83");
  EXPECT_EQ(Lowercased("\xc4\xb0"), "i\xcc\x87");
}

}  // namespace
}  // namespace gpt2
