// The message of an error, put together piece by piece: in a fraction of the code that sums of
// strings take, for the sake of what a browser downloads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace gpt2 {

class Sentence {
 public:
  // Begins with the name of the file, or of what else is wrong.
  explicit Sentence(std::string_view about) : text_(about) {}

  Sentence& operator<<(std::string_view text);
  Sentence& operator<<(std::uint64_t number);

  Error Corrupt() const { return {ErrorCode::kCorrupt, text_}; }
  Error Unsupported() const { return {ErrorCode::kUnsupported, text_}; }

 private:
  std::string text_;
};

}  // namespace gpt2
