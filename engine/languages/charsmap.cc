#include "engine/languages/charsmap.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/languages/graphemes.h"
#include "engine/text/utf8.h"

namespace gpt2 {
namespace {

std::uint32_t NumberAt(std::string_view bytes) {
  std::uint32_t number = 0;
  for (std::size_t i = 4; i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return number;
}

// The parts of a unit of darts-clone's double array.
bool HasValue(std::uint32_t unit) {
  return (unit >> 8 & 1) != 0;
}
std::uint32_t ValueOf(std::uint32_t unit) {
  return unit & 0x7fffffff;
}
// Larger than any byte if the unit is a value.
std::uint32_t LabelOf(std::uint32_t unit) {
  return unit & 0x800000ff;
}
std::size_t OffsetOf(std::uint32_t unit) {
  return static_cast<std::size_t>(unit >> 10) << ((unit & 1u << 9) >> 6);
}

Error Damaged(std::string_view what) {
  return Error{ErrorCode::kCorrupt, Concat("\"precompiled_charsmap\" is damaged: ", what)};
}

}  // namespace

Result<CharsMap> CharsMap::Read(std::string_view bytes) {
  if (bytes.size() < 4) {
    return Damaged(Concat("it is ", bytes.size(), " bytes, expected at least 4"));
  }
  const std::uint32_t trie_bytes = NumberAt(bytes);
  bytes.remove_prefix(4);
  if (trie_bytes % 4 != 0 || trie_bytes == 0 || trie_bytes > bytes.size()) {
    return Damaged(Concat("its trie is ", trie_bytes, " bytes, expected a multiple of 4 up to ",
                          bytes.size()));
  }
  CharsMap map;
  map.units_.reserve(trie_bytes / 4);
  for (std::size_t at = 0; at < trie_bytes; at += 4)
    map.units_.push_back(NumberAt(bytes.substr(at)));
  map.texts_ = bytes.substr(trie_bytes);
  std::string valid;
  AppendUtf8(map.texts_, valid);
  if (valid != map.texts_) return Damaged("a replacement is not UTF-8");
  for (std::size_t at = 0; at < map.texts_.size();) {
    const std::size_t end = std::min(map.texts_.find('\0', at), map.texts_.size());
    map.longest_ = std::max(map.longest_, end - at);
    at = end + 1;
  }
  constexpr std::size_t kLongest = 256;  // bytes: 33 in NFKC
  if (map.longest_ <= kLongest) return map;
  return Error{ErrorCode::kUnsupported,
               Concat("\"precompiled_charsmap\" makes a text ", map.longest_,
                      " bytes long, expected at most ", kLongest)};
}

Result<std::optional<std::string_view>> CharsMap::Find(std::string_view text) const {
  std::size_t place = OffsetOf(units_[0]);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == 0) break;
    place ^= byte;
    if (place >= units_.size()) return Damaged("its trie points beyond its end");
    const std::uint32_t unit = units_[place];
    if (LabelOf(unit) != byte) break;
    place ^= OffsetOf(unit);
    if (!HasValue(unit)) continue;
    const std::size_t at = place < units_.size() ? ValueOf(units_[place]) : texts_.size() + 1;
    if (at > texts_.size()) return Damaged("its trie points beyond its end");
    if (at < texts_.size() && (texts_[at] & 0xc0) == 0x80) {
      return Damaged("its trie points into a character");
    }
    const std::size_t end = std::min(texts_.find('\0', at), texts_.size());
    return std::optional(std::string_view(texts_).substr(at, end - at));
  }
  return std::optional<std::string_view>();
}

Result<std::string> CharsMap::Apply(std::string_view text) const {
  constexpr std::size_t kWholeBelow = 6;  // a grapheme of fewer bytes is looked up as a whole
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    std::string_view grapheme = text.substr(0, FirstGraphemeSize(text));
    text.remove_prefix(grapheme.size());
    if (grapheme.size() < kWholeBelow) {
      GPT2_ASSIGN(const auto whole, Find(grapheme));
      if (whole) {
        result += *whole;
        continue;
      }
    }
    while (!grapheme.empty()) {
      const std::string_view character = grapheme.substr(0, ReadUtf8(grapheme).size);
      grapheme.remove_prefix(character.size());
      GPT2_ASSIGN(const auto found, Find(character));
      result += found.value_or(character);
    }
  }
  return result;
}

}  // namespace gpt2
