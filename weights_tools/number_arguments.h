// Numbers on the command line: decimal, without other characters, and within their range.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace gpt2::tools {

// The range of an option, including both ends.
struct NumberRange {
  bool is_whole;
  double least;
  double most;
};

// "a whole number from 0 to 64"
std::string Described(const NumberRange& range);

// `text` as a number in `range`. "", "0x10", "nan", "5x" and " 5" are not numbers. The error names
// `flag`, the expected range and `text`.
Result<double> ParseNumber(std::string_view flag, std::string_view text, const NumberRange& range);

// The same for 64 bits, which a double cannot represent.
Result<std::uint64_t> ParseSeed(std::string_view flag, std::string_view text);

// "1,2,3", at least one. The caller checks whether they are in a vocabulary.
Result<std::vector<std::int32_t>> ParseIds(std::string_view flag, std::string_view text);

}  // namespace gpt2::tools
