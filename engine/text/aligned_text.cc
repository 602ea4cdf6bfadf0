#include "engine/text/aligned_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/text/utf8.h"

namespace gpt2 {

void AlignedText::Keep(const AlignedText& other, std::size_t begin, std::size_t end) {
  text.append(other.text, begin, end - begin);
  for (std::size_t i = begin; has_places && i < end; ++i) places.push_back(other.places[i]);
}

void AlignedText::Put(std::string_view content, TokenPlace place) {
  text += content;
  for (std::size_t i = 0; has_places && i < content.size(); ++i) places.push_back(place);
}

void AlignedText::Prepend(std::string_view content) {
  AlignedText whole = Part(0, 0);
  whole.Put(content, PlaceOf(0, 0));
  whole.Keep(*this, 0, text.size());
  *this = std::move(whole);
}

TokenPlace AlignedText::PlaceOf(std::size_t begin, std::size_t end) const {
  if (places.empty()) return {};
  const std::size_t from = begin < places.size() ? places[begin].begin : places.back().end;
  return {from, begin < end ? places[end - 1].end : from};
}

AlignedText AlignedText::Part(std::size_t begin, std::size_t end) const {
  AlignedText part{.text = {}, .has_places = has_places, .places = {}};
  part.Keep(*this, begin, end);
  return part;
}

AlignedText Align(std::string_view text, std::size_t begin, bool has_places) {
  AlignedText aligned{.text = std::string(text), .has_places = has_places, .places = {}};
  const std::size_t end = has_places ? begin + text.size() : begin;
  for (std::size_t i = begin; i < end; ++i) aligned.places.push_back({i, i + 1});
  return aligned;
}

void Utf16Places::Advance(std::size_t to, std::size_t& at, std::size_t& units) const {
  while (at < to && at < text_.size()) {
    const Utf8Character character = ReadUtf8(text_.substr(at));
    if (at + character.size > to) return;
    at += character.size;
    units += character.size == 4 ? 2 : 1;
  }
}

void Utf16Places::Append(std::span<const TokenPlace> places, std::vector<std::uint32_t>& units) {
  for (const TokenPlace& bytes : places) {
    const TokenPlace place = Convert(bytes);
    units.push_back(static_cast<std::uint32_t>(place.begin));
    units.push_back(static_cast<std::uint32_t>(place.end));
  }
}

TokenPlace Utf16Places::Convert(TokenPlace bytes) {
  Advance(bytes.begin, at_, units_);
  std::size_t at = at_, end = units_;
  Advance(bytes.end, at, end);
  if (at < std::min(bytes.end, text_.size())) {
    end += ReadUtf8(text_.substr(at)).size == 4 ? 2 : 1;
  }
  return {units_, end};
}

}  // namespace gpt2
