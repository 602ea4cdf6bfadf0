// Sentences put together from texts and numbers.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace gpt2 {

// A text, which is borrowed, or a whole number.
class Piece {
 public:
  Piece(std::string_view text)  // NOLINT: implicit by design
      : text_(text.data()), number_(text.size()) {}
  Piece(std::integral auto number)  // NOLINT: implicit by design
      : text_(number < 0 ? &kMinus : nullptr), number_(static_cast<std::uint64_t>(number)) {}

  void AppendTo(std::string& out) const;

 private:
  static constexpr char kMinus = '-';

  const char* text_;      // null for a number from 0 on, &kMinus for one below
  std::uint64_t number_;  // in two's complement, or bytes of text_
};

std::string ConcatPieces(std::initializer_list<Piece> pieces);

// Its arguments one after the other. A chain of `+` would be ten times the code. Each step makes a
// string, and frees it if the next step runs out of memory.
template <typename... Pieces>
std::string Concat(const Pieces&... pieces) {
  return ConcatPieces({Piece(pieces)...});
}

}  // namespace gpt2
