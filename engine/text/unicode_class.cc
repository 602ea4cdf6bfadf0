#include "engine/text/unicode_class.h"

#include <algorithm>
#include <iterator>

namespace gpt2 {
namespace {

struct Range {
  char32_t first;
  char32_t last;  // inclusive
  CharacterClass character_class;
};

constexpr Range kRanges[] = {
#include "engine/text/unicode_ranges.inc"
};

}  // namespace

CharacterClass ClassOf(char32_t code_point) {
  const Range* range =
      std::upper_bound(std::begin(kRanges), std::end(kRanges), code_point,
                       [](char32_t value, const Range& r) { return value < r.first; });
  if (range == std::begin(kRanges)) return CharacterClass::kOther;
  --range;
  return code_point <= range->last ? range->character_class : CharacterClass::kOther;
}

}  // namespace gpt2
