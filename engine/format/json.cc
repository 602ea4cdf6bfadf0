#include "engine/format/json.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/format/number_text.h"
#include "engine/text/quoted.h"

namespace gpt2 {
namespace {

// Empties `value` from the inside out, so that no destructor has anything left to flatten.
// Recurses as deep as the parser allows.
// NOLINTNEXTLINE(bugprone-exception-escape): the type of each value is checked first
void Clear(Json& value) noexcept {
  if (value.is_array()) {
    auto& items = value.get_ref<Json::array_t&>();
    for (Json& item : items) Clear(item);
    items.clear();
  } else if (value.is_object()) {
    auto& members = value.get_ref<Json::object_t&>();
    for (auto& [name, member] : members) Clear(member);
    members.clear();
  }
}

// Builds a value during parsing. Open containers own their members and move into their parent when
// they close, so nothing here recurses.
class ValueBuilder final : public nlohmann::json_sax<Json> {
 public:
  // With `take`, the text must be an object, whose members are passed to it.
  ValueBuilder(const std::string& what, const MemberSink* take) : what_(what), take_(take) {}
  ValueBuilder(const ValueBuilder&) = delete;
  ValueBuilder& operator=(const ValueBuilder&) = delete;
  ~ValueBuilder() override {
    for (Container& open : open_) {
      for (auto& [name, member] : open.members) Clear(member);
      Clear(open.value);
    }
    Clear(value_);
  }

  bool null() override { return Add(Json()); }
  bool boolean(bool value) override { return Add(value); }
  bool number_integer(std::int64_t value) override { return Add(value); }
  bool number_unsigned(std::uint64_t value) override { return Add(value); }
  bool number_float(double value, const std::string&) override { return Add(value); }
  bool string(std::string& value) override { return Add(std::move(value)); }
  bool binary(Json::binary_t&) override {
    return Refuse("binary data");
  }  // JSON has no binary data
  bool start_array(std::size_t) override { return Open(Json::array()); }
  bool start_object(std::size_t) override { return Open(Json::object()); }
  bool end_array() override { return Close(); }
  bool key(std::string& name) override {
    open_.back().key = std::move(name);
    return true;
  }

  bool end_object() override {
    std::vector<std::string_view> keys;
    for (const auto& [name, member] : open_.back().members) keys.push_back(name);
    SortNames(keys);
    const auto twice = std::adjacent_find(keys.begin(), keys.end());
    if (twice != keys.end()) return Refuse(Concat("the key ", Quoted(*twice), " twice"));
    MoveMembers(open_.back());
    return Close();
  }

  bool parse_error(std::size_t byte, const std::string&,
                   const nlohmann::detail::exception& error) override {
    constexpr int kOutOfRange = 406;  // a number beyond the range of a double
    if (error.id == kOutOfRange) return Refuse(Concat("a number too large at byte ", byte));
    error_ = {ErrorCode::kCorrupt, Concat(what_, " is not valid JSON: stopped at byte ", byte)};
    return false;
  }

  ParsedJson TakeValue() { return ParsedJson(std::move(value_)); }
  const std::optional<Error>& error() const { return error_; }

 private:
  struct Container {
    Json value;       // an array with its values so far, or an object that is still empty
    std::string key;  // of the current member
    std::vector<std::pair<std::string, Json>> members;
  };

  // The library's object copies its values when it grows, so it is created only when all members
  // are known. It is not filled through the map, which would search all keys for each key.
  static void MoveMembers(Container& container) {
    auto& object = container.value.get_ref<Json::object_t&>();
    object.reserve(container.members.size());
    for (auto& [name, member] : container.members) {
      object.emplace_back(std::move(name), std::move(member));
    }
  }

  bool Refuse(const std::string& found) {
    error_ = {ErrorCode::kCorrupt, Concat(what_, " has ", found)};
    return false;
  }

  bool Open(Json container) {
    if (open_.empty() && take_ != nullptr && !container.is_object()) return RefuseRoot(container);
    if (open_.size() == kMostDepth) {
      return Refuse(Concat("more than ", kMostDepth, " nested arrays and objects"));
    }
    open_.push_back({std::move(container), {}, {}});
    return true;
  }

  bool Close() {
    value_ = std::move(open_.back().value);
    open_.pop_back();
    return Add(std::move(value_));
  }

  bool Add(Json&& value) {
    if (open_.empty()) {
      if (take_ != nullptr && !value.is_object()) return RefuseRoot(value);
      value_ = std::move(value);
      return true;
    }
    auto& [container, key, members] = open_.back();
    if (container.is_array()) {
      container.get_ref<Json::array_t&>().push_back(std::move(value));
    } else if (open_.size() == 1 && take_ != nullptr) {
      const Status taken = (*take_)(key, value);
      Clear(value);
      if (!taken.ok()) error_ = taken.error();
      return taken.ok();
    } else {
      members.emplace_back(std::move(key), std::move(value));
    }
    return true;
  }

  bool RefuseRoot(const Json& value) {
    error_ = {ErrorCode::kCorrupt, Concat(what_, ": expected an object, found ", Shown(value))};
    return false;
  }

  const std::string& what_;
  const MemberSink* take_;
  std::vector<Container> open_;
  Json value_;  // the last closed one
  std::optional<Error> error_;
};

Result<ParsedJson> Parse(std::string_view text, const std::string& what, const MemberSink* take) {
  ValueBuilder builder(what, take);
  Json::sax_parse(text.begin(), text.end(), &builder);
  if (builder.error()) return *builder.error();
  return builder.TakeValue();
}

}  // namespace

void SortNames(std::span<std::string_view> names) {
  std::make_heap(names.begin(), names.end());
  std::sort_heap(names.begin(), names.end());
}

ParsedJson::~ParsedJson() {
  Clear(value_);
}

Result<ParsedJson> ParseJson(std::string_view text, const std::string& what) {
  return Parse(text, what, /*take=*/nullptr);
}

Status ForMembers(std::string_view text, const std::string& what, MemberSink take) {
  GPT2_TRY(Parse(text, what, &take));
  return Done{};
}

std::string Shown(const Json& value) {
  if (value.is_string()) return Quoted(value.get_ref<const std::string&>());
  if (value.is_array()) return Concat("an array of ", value.size());
  if (value.is_object()) return Concat("an object of ", value.size());
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_number_unsigned()) return std::to_string(value.get<std::uint64_t>());
  if (value.is_number_integer()) return std::to_string(value.get<std::int64_t>());
  if (value.is_number()) return NumberText(value.get<double>());
  return "null";
}

const Json* FindMember(const Json& value, std::string_view key) {
  if (!value.is_object()) return nullptr;
  for (const auto& [name, member] : value.get_ref<const Json::object_t&>()) {
    if (name == key) return &member;
  }
  return nullptr;
}

bool IsText(const Json& value, std::string_view text) {
  return value.is_string() && value.get_ref<const std::string&>() == text;
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
    // 2^53: beyond it a double does not identify a whole number
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
                 Concat("expected an array of token ids, found ", Shown(json))};
  }
  std::vector<std::int32_t> ids;
  for (const Json& value : json) {
    const auto id = WholeNumber(value, 0, std::numeric_limits<std::int32_t>::max());
    if (!id) {
      return Error{ErrorCode::kInvalidArgument,
                   Concat("token id ", Shown(value), " is not a whole number of at least 0")};
    }
    ids.push_back(static_cast<std::int32_t>(*id));
  }
  return ids;
}

}  // namespace gpt2
