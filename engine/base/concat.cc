#include "engine/base/concat.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace gpt2 {

void Piece::AppendTo(std::string& out) const {
  if (text_ == nullptr) {
    out += std::to_string(number_);
  } else if (text_ == &kMinus) {
    out += std::to_string(static_cast<std::int64_t>(number_));
  } else {
    out.append(text_, static_cast<std::size_t>(number_));
  }
}

std::string ConcatPieces(std::initializer_list<Piece> pieces) {
  std::string text;
  for (const Piece& piece : pieces) piece.AppendTo(text);
  return text;
}

}  // namespace gpt2
