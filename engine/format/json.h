// Reads JSON from untrusted sources, without exceptions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/function_ref.h"
#include "engine/base/result.h"

namespace gpt2 {

// A JSON value that keeps the order of keys. A lookup takes time linear in the number of keys.
using Json = nlohmann::ordered_json;

// The limit for nested arrays and objects. Code that walks over a value may recurse.
inline constexpr std::size_t kMostDepth = 64;

// Holds a value, and destroys it without allocating memory. The library's own destructor flattens a
// value's contents into a list, and ends the program if there is no memory for that.
class ParsedJson {
 public:
  explicit ParsedJson(Json value) : value_(std::move(value)) {}
  ParsedJson(ParsedJson&&) noexcept = default;
  ParsedJson& operator=(ParsedJson&&) = delete;
  ~ParsedJson();

  const Json& operator*() const { return value_; }
  const Json* operator->() const { return &value_; }
  // Only for callers that may allocate memory, because the destructor of the result does so.
  Json&& Take() { return std::move(value_); }

 private:
  Json value_;
};

// In ascending order, by heap sort: a quarter of the code of std::sort.
void SortNames(std::span<std::string_view> names);

// Parses `text`. An error names `what` and the byte, the depth, or the key that an object has
// twice. Time and memory grow linearly with the text.
Result<ParsedJson> ParseJson(std::string_view text, const std::string& what);

// Parses `text`, which must be an object, and passes each member to `take` as soon as it is read,
// so that memory holds only one. Ends with the first error of `take`, which must itself refuse
// duplicate keys.
using MemberSink = FunctionRef<Status(std::string& key, Json& value)>;
Status ForMembers(std::string_view text, const std::string& what, MemberSink take);

// `value` as text for an error message: valid UTF-8, at most about 80 bytes. For an array or
// object, only its kind and size.
std::string Shown(const Json& value);

// The member `key` of `value`; null if `value` is no object or lacks it.
const Json* FindMember(const Json& value, std::string_view key);

// Whether `value` is the string `text`. The library's own comparison first creates a value from
// `text`, and ends the program if there is no memory for that.
bool IsText(const Json& value, std::string_view text);

// The whole number in `value`, if it is one in [least, most]; else nothing.
std::optional<std::int64_t> WholeNumber(const Json& value, std::int64_t least, std::int64_t most);

// The token ids in an array: whole numbers from 0 on that fit an int32. The caller checks whether
// they are in a vocabulary.
Result<std::vector<std::int32_t>> ReadTokenIds(const Json& json);

}  // namespace gpt2
