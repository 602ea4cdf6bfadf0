#include "engine/text/tokenizer_rules.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/added_tokens.h"
#include "engine/text/pre_tokenizer.h"
#include "engine/text/unicode_class.h"
#include "engine/text/utf8.h"

namespace gpt2 {
namespace {

std::string Replaced(std::string_view text, const Normalizer& step) {
  std::string result;
  while (true) {
    const std::size_t found = std::min(text.find(step.pattern), text.size());
    result += text.substr(0, found);
    if (found == text.size()) return result;
    result += step.content;
    text.remove_prefix(found + step.pattern.size());
  }
}

std::string Stripped(std::string_view text, const Normalizer& step) {
  if (step.strips_left) text.remove_prefix(SpaceAtBegin(text));
  if (step.strips_right) text.remove_suffix(SpaceAtEnd(text));
  return std::string(text);
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

std::string Normalize(const std::vector<Normalizer>& normalizers, std::string_view text) {
  std::string result(text);
  for (const Normalizer& step : normalizers) {
    switch (step.kind) {
      case Normalizer::Kind::kReplace:
        result = Replaced(result, step);
        break;
      case Normalizer::Kind::kPrepend:
        if (!result.empty()) result.insert(0, step.content);
        break;
      case Normalizer::Kind::kStrip:
        result = Stripped(result, step);
        break;
    }
  }
  return result;
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
