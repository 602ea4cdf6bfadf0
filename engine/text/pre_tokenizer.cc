#include "engine/text/pre_tokenizer.h"

#include <cstddef>
#include <string_view>

#include "engine/text/unicode_class.h"
#include "engine/text/utf8.h"

namespace gpt2 {
namespace {

CharacterClass ClassOfFirst(std::string_view text, std::size_t& size) {
  const Utf8Character character = ReadUtf8(text);
  size = character.size;
  if (character.code_point == kInvalidCodePoint) return CharacterClass::kOther;
  return ClassOf(character.code_point);
}

// Bytes of the contraction ending ('s, 't, 're, 've, 'm, 'll, 'd) that `text` begins with, or 0.
std::size_t ContractionSize(std::string_view text) {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
    if (text.starts_with(ending)) return ending.size();
  }
  return 0;
}

// Bytes of the run of characters of one class that `text` begins with; `last` is the size of the
// run's last character.
std::size_t RunSize(std::string_view text, CharacterClass wanted, std::size_t* last = nullptr) {
  std::size_t run = 0;
  while (run < text.size()) {
    std::size_t size = 0;
    if (ClassOfFirst(text.substr(run), size) != wanted) break;
    run += size;
    if (last != nullptr) *last = size;
  }
  return run;
}

}  // namespace

std::size_t FirstWordSize(std::string_view text) {
  if (const std::size_t size = ContractionSize(text)) return size;
  const std::size_t space = text[0] == ' ' ? 1 : 0;
  if (space < text.size()) {
    std::size_t size = 0;
    const CharacterClass first = ClassOfFirst(text.substr(space), size);
    if (first != CharacterClass::kSpace) return space + RunSize(text.substr(space), first);
  }
  // White space. Before a word its last character is left to that word, unless it is all there is.
  std::size_t last = 0;
  const std::size_t run = RunSize(text, CharacterClass::kSpace, &last);
  return run == text.size() || run == last ? run : run - last;
}

}  // namespace gpt2
