#include "engine/text/byte_alphabet.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace gpt2::testing {
namespace {

// As in GPT-2's encoder.py: a printable byte is its own character, the others are the
// characters from U+0100 on, in order.
TEST(ByteAlphabet, MatchesGpt2sSpelling) {
  EXPECT_EQ(AlphabetFromBytes("a~"), "a~");
  EXPECT_EQ(AlphabetFromBytes(" \n"), "\u0120\u010a");
  EXPECT_EQ(AlphabetFromBytes(std::string("\0", 1)), "\u0100");
  EXPECT_EQ(AlphabetFromBytes("\x7f\xa0\xa1\xad\xff"), "\u0121\u0142\u00a1\u0143\u00ff");
}

TEST(ByteAlphabet, OtherCharactersAreRefused) {
  for (const char* text : {" ", "\n", "\u0144", "\u0200", "\u4e00", "a\u0144", "\xff"}) {
    EXPECT_EQ(BytesFromAlphabet(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace gpt2::testing
