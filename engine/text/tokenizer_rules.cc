#include "engine/text/tokenizer_rules.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "engine/text/added_tokens.h"
#include "engine/text/aligned_text.h"
#include "engine/text/pre_tokenizer.h"
#include "engine/text/unicode_class.h"
#include "engine/text/utf8.h"

namespace gpt2 {
namespace {

AlignedText Replaced(const AlignedText& text, const Normalizer& step) {
  AlignedText result = text.Part(0, 0);
  for (std::size_t begin = 0;;) {
    const std::size_t found = std::min(text.text.find(step.pattern, begin), text.text.size());
    result.Keep(text, begin, found);
    if (found == text.text.size()) return result;
    begin = found + step.pattern.size();
    result.Put(step.content, text.PlaceOf(found, begin));
  }
}

AlignedText Stripped(const AlignedText& text, const Normalizer& step) {
  std::string_view rest = text.text;
  const std::size_t begin = step.strips_left ? SpaceAtBegin(rest) : 0;
  rest.remove_prefix(begin);
  if (step.strips_right) rest.remove_suffix(SpaceAtEnd(rest));
  return text.Part(begin, begin + rest.size());
}

std::size_t FirstDigitsSize(std::string_view text, bool is_single) {
  std::size_t size = 0;
  bool are_digits = false;
  while (size < text.size()) {
    const Utf8Character character = ReadUtf8(text.substr(size));
    const bool is_digit =
        character.code_point != kInvalidCodePoint && IsNumeric(character.code_point);
    if (size == 0) are_digits = is_digit;
    if (is_digit != are_digits) break;
    size += character.size;
    if (is_digit && is_single) break;
  }
  return size;
}

std::size_t FirstTextSize(std::string_view text, std::string_view pattern) {
  if (text.starts_with(pattern)) return pattern.size();
  return std::min(text.find(pattern), text.size());
}

}  // namespace

void Normalize(const std::vector<Normalizer>& normalizers, AlignedText& text) {
  for (const Normalizer& step : normalizers) {
    switch (step.kind) {
      case Normalizer::Kind::kReplace:
        text = Replaced(text, step);
        break;
      case Normalizer::Kind::kPrepend:
        if (!text.text.empty()) text.Prepend(step.content);
        break;
      case Normalizer::Kind::kStrip:
        text = Stripped(text, step);
        break;
    }
  }
}

std::size_t FirstPieceSize(const Splitter& splitter, std::string_view text) {
  switch (splitter.kind) {
    case Splitter::Kind::kDigits:
      return FirstDigitsSize(text, /*is_single=*/false);
    case Splitter::Kind::kSingleDigits:
      return FirstDigitsSize(text, /*is_single=*/true);
    case Splitter::Kind::kText:
      return FirstTextSize(text, splitter.pattern);
    case Splitter::Kind::kGpt2Words:
      return FirstWordSize(text);
  }
  return text.size();
}

}  // namespace gpt2
