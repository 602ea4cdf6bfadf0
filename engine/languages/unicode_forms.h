// Unicode's normalization forms (UAX #15), lower case, and the kinds of characters that BERT's
// tokenizer distinguishes, in the versions that Hugging Face's `tokenizers` uses. The tables are
// our own, because a browser's String.normalize() has another Unicode version and the native tools
// have none.
#pragma once

#include <string>
#include <string_view>

namespace gpt2 {

enum class UnicodeForm { kNfc, kNfd, kNfkc, kNfkd };

// `text` in the normalization form `form`. Bytes that are not part of a character stay unchanged.
std::string InForm(UnicodeForm form, std::string_view text);

// Maps each character separately, so a final sigma is not special.
std::string Lowercased(std::string_view text);

// Kinds of characters, as bits.
enum Trait : unsigned char {
  kAccent = 1,       // what StripAccents removes: the category M
  kNonspacing = 2,   // what BertNormalizer removes as an accent: Mn
  kControl = 4,      // what BertNormalizer removes as unclean
  kPunctuation = 8,  // the category P, and all of ASCII's that is no letter, digit or space
  kChinese = 16,     // what BertNormalizer puts spaces around
};

// The sum of the character's traits.
unsigned TraitsOf(char32_t character);

}  // namespace gpt2
