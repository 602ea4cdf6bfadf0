// Builds sentences from texts and numbers.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace gpt2 {

// A borrowed text, or a whole number.
class Piece {
 public:
  Piece(std::string_view text)  // NOLINT: implicit by design
      : text_(text.data()), number_(text.size()) {}
  Piece(std::integral auto number)  // NOLINT: implicit by design
      : text_(number < 0 ? &kMinus : nullptr), number_(static_cast<std::uint64_t>(number)) {}

  void AppendTo(std::string& out) const;

 private:
  static constexpr char kMinus = '-';

  const char* text_;      // null for a number from 0 on, &kMinus for a negative one
  std::uint64_t number_;  // in two's complement, or bytes of text_
};

std::string ConcatPieces(std::initializer_list<Piece> pieces);

// Concatenates its arguments. A chain of `+` would take ten times the code: each step creates a
// string. It must free the string if the next step runs out of memory.
template <typename... Pieces>
std::string Concat(const Pieces&... pieces) {
  return ConcatPieces({Piece(pieces)...});
}

}  // namespace gpt2
