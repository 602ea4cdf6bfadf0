#include "engine/text/unicode_class.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace gpt2 {
namespace {

// A class, and whether its characters are part of a word. kLaterNumber is for numbers that are
// newer than the Unicode version of the regular expressions.
enum class Stored { kLetter, kDigit, kNumber, kSpace, kWord, kLaterNumber };

struct Range {
  char32_t first;
  char32_t last;  // inclusive
  Stored stored;
};

// Only the compiler reads this table. The download contains kCoded, which is a fifth of its size.
constexpr Range kRanges[] = {
#include "engine/text/unicode_ranges.inc"
};

// Two numbers a range, seven bits a byte, the lowest first, the top bit set on all but the last
// byte. The first is the distance from the end of the range before. The second is its length less
// 1, times eight, plus the class.
template <std::size_t kSize>
struct Coded {
  std::array<std::uint8_t, kSize> bytes{};
  std::size_t size = 0;

  constexpr void Add(char32_t number) {
    for (; number >= 0x80; number >>= 7) {
      bytes[size++] = static_cast<std::uint8_t>((number & 0x7f) | 0x80);
    }
    bytes[size++] = static_cast<std::uint8_t>(number);
  }
};

template <std::size_t kSize>
constexpr Coded<kSize> Encode() {
  Coded<kSize> coded;
  char32_t end = 0;
  for (const Range& range : kRanges) {
    coded.Add(range.first - end);
    coded.Add((range.last - range.first) * 8 + static_cast<char32_t>(range.stored));
    end = range.last;
  }
  return coded;
}

constexpr std::size_t kMostCodedBytes = std::size(kRanges) * 2 * 3;  // 21 bits are a code point's
constexpr auto kCoded = Encode<Encode<kMostCodedBytes>().size>().bytes;
static_assert(static_cast<int>(Stored::kLaterNumber) < 8);

using Table = std::array<Range, std::size(kRanges)>;

Table Decode() {
  Table table{};
  const std::uint8_t* byte = kCoded.data();
  const auto next = [&byte] {
    char32_t number = 0;
    int shift = 0;
    for (; *byte >= 0x80; shift += 7) number |= static_cast<char32_t>(*byte++ & 0x7f) << shift;
    return number | static_cast<char32_t>(*byte++) << shift;
  };
  char32_t end = 0;
  for (Range& range : table) {
    range.first = end + next();
    const char32_t length_and_class = next();
    range.last = range.first + length_and_class / 8;
    range.stored = static_cast<Stored>(length_and_class % 8);
    end = range.last;
  }
  return table;
}

// Not constexpr: the table would be in the download again.
const Table& RangeTable() {
  static const Table table = Decode();
  return table;
}

// The range that `code_point` is in, or null.
const Range* FindRange(char32_t code_point) {
  const Table& ranges = RangeTable();
  const auto range =
      std::upper_bound(ranges.begin(), ranges.end(), code_point,
                       [](char32_t value, const Range& r) { return value < r.first; });
  if (range == ranges.begin() || code_point > std::prev(range)->last) return nullptr;
  return &*std::prev(range);
}

}  // namespace

CharacterClass ClassOf(char32_t code_point) {
  const Range* const range = FindRange(code_point);
  if (range == nullptr) return CharacterClass::kOther;
  switch (range->stored) {
    case Stored::kLetter:
      return CharacterClass::kLetter;
    case Stored::kDigit:
    case Stored::kNumber:
      return CharacterClass::kNumber;
    case Stored::kSpace:
      return CharacterClass::kSpace;
    case Stored::kWord:
    case Stored::kLaterNumber:
      break;
  }
  return CharacterClass::kOther;
}

bool IsWordCharacter(char32_t code_point) {
  const Range* const range = FindRange(code_point);
  return range != nullptr && range->stored != Stored::kNumber &&
         range->stored != Stored::kLaterNumber && range->stored != Stored::kSpace;
}

bool IsNumeric(char32_t code_point) {
  const Range* const range = FindRange(code_point);
  return range != nullptr && (range->stored == Stored::kDigit || range->stored == Stored::kNumber ||
                              range->stored == Stored::kLaterNumber);
}

}  // namespace gpt2
