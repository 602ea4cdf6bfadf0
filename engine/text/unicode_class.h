// The character classes of GPT-2's pre-tokenizer, in the Unicode versions of Hugging Face's
// `tokenizers`: 16 for its regular expressions, 17 for its Digits.
#pragma once

namespace gpt2 {

enum class CharacterClass {
  kLetter,  // Unicode general category L
  kNumber,  // N
  kSpace,   // the property White_Space
  kOther,   // everything else, and bytes that are not a character
};

CharacterClass ClassOf(char32_t code_point);

// Whether the character is part of a word, as \w of Rust's regular expressions: Alphabetic, Mark,
// Decimal_Number, Connector_Punctuation or Join_Control (UTS #18, annex C).
bool IsWordCharacter(char32_t code_point);

// Whether Digits cuts at the character: it is in the category N of Unicode 17, which has more
// characters than kNumber.
bool IsNumeric(char32_t code_point);

}  // namespace gpt2
