#include "engine/base/concat.h"

#include <cstddef>
#include <initializer_list>
#include <string>

namespace gpt2 {

void Piece::AppendTo(std::string& out) const {
  if (text_ != nullptr) {
    out.append(text_, static_cast<std::size_t>(number_));
  } else {
    out += std::to_string(number_);
  }
}

std::string ConcatPieces(std::initializer_list<Piece> pieces) {
  std::string text;
  for (const Piece& piece : pieces) piece.AppendTo(text);
  return text;
}

}  // namespace gpt2
