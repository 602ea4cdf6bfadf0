#include "engine/convert/sentence.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace gpt2 {

Sentence& Sentence::operator<<(std::string_view text) {
  text_ += text;
  return *this;
}

Sentence& Sentence::operator<<(std::uint64_t number) {
  text_ += std::to_string(number);
  return *this;
}

}  // namespace gpt2
