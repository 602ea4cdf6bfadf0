#include "weights_tools/number_arguments.h"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "engine/base/result.h"
#include "engine/format/number_text.h"

namespace gpt2::tools {
namespace {

// `text` as a T; nothing if it is not a number from its first character to its last, or too large.
template <typename T>
std::optional<T> Parse(std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): `end` says how long it is
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || text.empty()) return std::nullopt;
  return value;
}

Error Refused(std::string_view flag, std::string_view text, const std::string& expected) {
  constexpr std::size_t kMost = 80;
  std::string found(text.substr(0, kMost));
  if (text.empty()) found = "empty";
  if (text.size() > kMost) found += "...";
  return Error{ErrorCode::kInvalidArgument,
               std::string(flag) + " is " + found + ", expected " + expected};
}

}  // namespace

std::string Described(const NumberRange& range) {
  return std::string(range.is_whole ? "a whole number" : "a number") + " from " +
         NumberText(range.least) + " to " + NumberText(range.most);
}

Result<double> ParseNumber(std::string_view flag, std::string_view text, const NumberRange& range) {
  const auto value = Parse<double>(text);
  const bool fits = value && *value >= range.least && *value <= range.most &&
                    (!range.is_whole || *value == std::floor(*value));
  if (!fits) return Refused(flag, text, Described(range));
  return *value;
}

Result<std::uint64_t> ParseSeed(std::string_view flag, std::string_view text) {
  const auto value = Parse<std::uint64_t>(text);
  if (value) return *value;
  return Refused(
      flag, text,
      "a whole number from 0 to " + std::to_string(std::numeric_limits<std::uint64_t>::max()));
}

Result<std::vector<std::int32_t>> ParseIds(std::string_view flag, std::string_view text) {
  std::vector<std::int32_t> ids;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    const auto id = Parse<std::int32_t>(rest.substr(0, comma));
    if (!id || *id < 0) {
      return Refused(flag, text,
                     "token ids from 0 to " +
                         std::to_string(std::numeric_limits<std::int32_t>::max()) +
                         " with commas between them, as in 1,2,3");
    }
    ids.push_back(*id);
    if (comma == std::string_view::npos) return ids;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace gpt2::tools
