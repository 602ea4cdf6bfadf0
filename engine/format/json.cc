#include "engine/format/json.h"

#include <cmath>
#include <set>

namespace gpt2 {

Result<Json> ParseJson(std::string_view text, const std::string& what) {
  std::vector<std::set<std::string, std::less<>>> open_objects;
  std::string duplicate;
  const auto watch = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open_objects.emplace_back();
    if (event == Json::parse_event_t::object_end && !open_objects.empty()) open_objects.pop_back();
    if (event == Json::parse_event_t::key && !open_objects.empty()) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!open_objects.back().insert(key).second) duplicate = key;
    }
    return true;
  };
  Json json = Json::parse(text.begin(), text.end(), watch, /*allow_exceptions=*/false);
  if (json.is_discarded()) {
    return Error{ErrorCode::kCorrupt,
                 what + " is not valid JSON (" + std::to_string(text.size()) + " bytes read)"};
  }
  if (!duplicate.empty()) {
    return Error{ErrorCode::kCorrupt, what + " has the key \"" + duplicate + "\" twice"};
  }
  return json;
}

std::string Shown(const Json& value) {
  constexpr std::size_t kMost = 80;
  const std::string text =
      value.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

std::optional<std::int64_t> WholeNumber(const Json& value, std::int64_t least, std::int64_t most) {
  std::int64_t number = 0;
  if (value.is_number_unsigned()) {
    const auto unsigned_number = value.get<std::uint64_t>();
    if (unsigned_number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return std::nullopt;
    }
    number = static_cast<std::int64_t>(unsigned_number);
  } else if (value.is_number_integer()) {
    number = value.get<std::int64_t>();
  } else if (value.is_number_float()) {
    const double real = value.get<double>();
    // 2^53: beyond it a double no longer says which whole number was meant
    if (!(std::fabs(real) <= 0x1p53) || real != std::floor(real)) return std::nullopt;
    number = static_cast<std::int64_t>(real);
  } else {
    return std::nullopt;
  }
  if (number < least || number > most) return std::nullopt;
  return number;
}

Result<std::vector<std::int32_t>> ReadTokenIds(const Json& json) {
  if (!json.is_array()) {
    return Error{ErrorCode::kInvalidArgument,
                 "expected an array of token ids, found " + Shown(json)};
  }
  std::vector<std::int32_t> ids;
  for (const Json& value : json) {
    const auto id = WholeNumber(value, 0, std::numeric_limits<std::int32_t>::max());
    if (!id) {
      return Error{ErrorCode::kInvalidArgument,
                   "token id " + Shown(value) + " is not a whole number from 0 on"};
    }
    ids.push_back(static_cast<std::int32_t>(*id));
  }
  return ids;
}

}  // namespace gpt2
