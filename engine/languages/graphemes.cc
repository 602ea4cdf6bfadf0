#include "engine/languages/graphemes.h"

#include <cstddef>
#include <string_view>
#include <vector>

#include "engine/languages/runs.h"
#include "engine/text/utf8.h"

namespace gpt2 {
namespace {

#include "engine/languages/grapheme_unicode_ranges.inc"

// Flags, which generate.mjs determines one by one.
enum GraphemePart : unsigned {
  kExtends = 1,        // belongs to the character before
  kLinker = 2,         // joins the consonants around it
  kPrepended = 4,      // belongs to the character after
  kPicture = 8,        // those around a zero-width joiner belong together
  kControl = 16,       // stands alone
  kConsonant = 32,     // those around a linker belong together
  kEndsPictures = 64,  // those around it do not
  kEndsConsonants = 128,
};

constexpr char32_t kJoiner = 0x200d;

unsigned PartOf(char32_t character) {
  static const std::vector<Run> runs = ReadRuns(kParts);
  return character == 0 ? unsigned{kControl} : ValueIn(runs, character);
}

// The letters of Hangul's syllables (UAX #29, Hangul_Syllable_Type).
enum class Hangul { kNone, kLead, kVowel, kTail, kLeadVowel, kWhole };

Hangul HangulOf(char32_t c) {
  const auto is_in = [c](char32_t first, char32_t last) { return first <= c && c <= last; };
  if (is_in(0x1100, 0x115f) || is_in(0xa960, 0xa97c)) return Hangul::kLead;
  if (is_in(0x1160, 0x11a7) || is_in(0xd7b0, 0xd7c6)) return Hangul::kVowel;
  if (is_in(0x11a8, 0x11ff) || is_in(0xd7cb, 0xd7fb)) return Hangul::kTail;
  if (is_in(0xac00, 0xd7a3)) return (c - 0xac00) % 28 == 0 ? Hangul::kLeadVowel : Hangul::kWhole;
  return Hangul::kNone;
}

bool IsSyllable(Hangul before, Hangul after) {
  switch (before) {
    case Hangul::kLead:
      return after != Hangul::kNone && after != Hangul::kTail;
    case Hangul::kVowel:
    case Hangul::kLeadVowel:
      return after == Hangul::kVowel || after == Hangul::kTail;
    case Hangul::kTail:
    case Hangul::kWhole:
      return after == Hangul::kTail;
    case Hangul::kNone:
      break;
  }
  return false;
}

// The state after the characters so far.
class Grapheme {
 public:
  explicit Grapheme(char32_t first) { Take(first, PartOf(first)); }

  // Whether the next character also belongs to it.
  bool Continue(char32_t next) {
    const unsigned part = PartOf(next);
    const bool is_joined =
        (last_ == '\r' && next == '\n') ||
        (((part_ | part) & kControl) == 0 &&
         ((part & kExtends) != 0 || (part_ & kPrepended) != 0 ||
          IsSyllable(HangulOf(last_), HangulOf(next)) ||
          (joins_pictures_ && (part & kPicture) != 0) || (is_linked_ && (part & kConsonant) != 0)));
    if (is_joined) Take(next, part);
    return is_joined;
  }

 private:
  void Take(char32_t character, unsigned part) {
    const bool extends = (part & kExtends) != 0;
    joins_pictures_ = is_picture_ && character == kJoiner;
    is_picture_ = extends ? is_picture_ && (part & kEndsPictures) == 0 : (part & kPicture) != 0;
    is_consonant_ =
        extends ? is_consonant_ && (part & kEndsConsonants) == 0 : (part & kConsonant) != 0;
    is_linked_ = extends && is_consonant_ && (is_linked_ || (part & kLinker) != 0);
    last_ = character;
    part_ = part;
  }

  char32_t last_ = 0;
  unsigned part_ = 0;
  bool is_picture_ = false;      // a picture, followed only by extending characters
  bool joins_pictures_ = false;  // and then a joiner
  bool is_consonant_ = false;    // the same for a consonant
  bool is_linked_ = false;       // and there is a linker
};

}  // namespace

std::size_t FirstGraphemeSize(std::string_view text) {
  const Utf8Character first = ReadUtf8(text);
  std::size_t size = first.size;
  if (first.code_point == kInvalidCodePoint) return size;
  for (Grapheme grapheme(first.code_point); size < text.size();) {
    const Utf8Character next = ReadUtf8(text.substr(size));
    if (next.code_point == kInvalidCodePoint || !grapheme.Continue(next.code_point)) break;
    size += next.size;
  }
  return size;
}

}  // namespace gpt2
