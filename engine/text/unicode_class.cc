#include "engine/text/unicode_class.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace gpt2 {
namespace {

struct Range {
  char32_t first;
  char32_t last;  // inclusive
  CharacterClass character_class;
};

// For the compiler alone: what is downloaded is kCoded, a fifth of its size.
constexpr Range kRanges[] = {
#include "engine/text/unicode_ranges.inc"
};

// Two numbers a range, seven bits a byte, the lowest first, the top bit set on all but the last
// byte: how far it begins after the end of the one before, and its length less 1, times four plus
// the class.
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
    coded.Add((range.last - range.first) * 4 + static_cast<char32_t>(range.character_class));
    end = range.last;
  }
  return coded;
}

constexpr std::size_t kMostCodedBytes = std::size(kRanges) * 2 * 3;  // 21 bits are a code point's
constexpr auto kCoded = Encode<Encode<kMostCodedBytes>().size>().bytes;
static_assert(static_cast<int>(CharacterClass::kOther) < 4);

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
    range.last = range.first + length_and_class / 4;
    range.character_class = static_cast<CharacterClass>(length_and_class % 4);
    end = range.last;
  }
  return table;
}

// Not constexpr: the table would be in the download again.
const Table& RangeTable() {
  static const Table table = Decode();
  return table;
}

}  // namespace

CharacterClass ClassOf(char32_t code_point) {
  const Table& ranges = RangeTable();
  const auto range =
      std::upper_bound(ranges.begin(), ranges.end(), code_point,
                       [](char32_t value, const Range& r) { return value < r.first; });
  if (range == ranges.begin()) return CharacterClass::kOther;
  const Range& before = *std::prev(range);
  return code_point <= before.last ? before.character_class : CharacterClass::kOther;
}

}  // namespace gpt2
