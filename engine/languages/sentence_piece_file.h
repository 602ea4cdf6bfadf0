// Reads a SentencePiece file, such as spiece.model (its sentencepiece_model.proto), with a Unigram
// model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace gpt2 {

struct SentencePieceFile {
  enum class Type { kNormal = 1, kUnknown, kControl, kUserDefined, kUnused, kByte };
  struct Piece {
    std::string text;
    float score = 0;
    Type type = Type::kNormal;
  };
  std::vector<Piece> pieces;  // by id
  std::int32_t unknown = 0;   // the id of the piece for unknown text
  bool falls_back_to_bytes = false;
  std::string_view charsmap;   // refers to the bytes of the file; "" if texts are not normalized
  bool adds_space = true;      // whether a text gets a space at its beginning
  bool removes_spaces = true;  // those at the ends, and all but one between words
};

// Reads a file of 1 to `vocab_size` pieces. `bytes` must outlive the result. Fails on models other
// than Unigram and on anything unsupported. Errors name the field, not the file.
Result<SentencePieceFile> ReadSentencePieceFile(std::string_view bytes, std::size_t vocab_size);

}  // namespace gpt2
