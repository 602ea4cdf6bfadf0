// A text that steps have changed, with the place in the original text of each of its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpt2 {

// Bytes of a text, from `begin` to `end`.
struct TokenPlace {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct AlignedText {
  std::string text;
  bool has_places = false;         // otherwise the text costs no more than its bytes
  std::vector<TokenPlace> places;  // [text.size()] or empty

  // Appends the bytes of `other` from `begin` to `end`, with their places.
  void Keep(const AlignedText& other, std::size_t begin, std::size_t end);
  // Appends `content`, which replaces the original text at `place`.
  void Put(std::string_view content, TokenPlace place);
  // Puts `content`, which replaces nothing, before the text, which is not empty.
  void Prepend(std::string_view content);

  // The original place of the bytes from `begin` to `end`; {0, 0} without places.
  TokenPlace PlaceOf(std::size_t begin, std::size_t end) const;
  AlignedText Part(std::size_t begin, std::size_t end) const;
};

// `text`, which is unchanged and begins at byte `begin` of the original.
AlignedText Align(std::string_view text, std::size_t begin, bool has_places);

// The ids of a text, and the places of its tokens, if they were requested.
struct EncodedText {
  std::vector<std::int32_t> ids;
  std::vector<TokenPlace> places;  // [ids.size()]

  void Add(std::int32_t id, TokenPlace place) {
    ids.push_back(id);
    places.push_back(place);
  }
  void Resize(std::size_t size) {
    ids.resize(size);
    places.resize(size);
  }
};

// Converts places from bytes to UTF-16 code units, as in JavaScript. Each begins no earlier than
// the one before. Borrows the text.
class Utf16Places {
 public:
  explicit Utf16Places(std::string_view text) : text_(text) {}

  // Appends the begin and the end of each place, which includes all characters that it touches.
  void Append(std::span<const TokenPlace> places, std::vector<std::uint32_t>& units);

 private:
  TokenPlace Convert(TokenPlace bytes);
  // Moves `at` past the whole characters up to byte `to`, and adds their units.
  void Advance(std::size_t to, std::size_t& at, std::size_t& units) const;

  std::string_view text_;
  std::size_t at_ = 0;  // bytes
  std::size_t units_ = 0;
};

}  // namespace gpt2
