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

// Keeps the order of keys. Lookup takes time linear in the number of keys.
using Json = nlohmann::ordered_json;

// The limit for nested arrays and objects. Code that walks over a value may recurse.
inline constexpr std::size_t kMostDepth = 64;

// A value that is destroyed without allocating memory. The library's destructor flattens a value's
// contents into a list, and ends the program if there is no memory for that.
class ParsedJson {
 public:
  explicit ParsedJson(Json value) : value_(std::move(value)) {}
  ParsedJson(ParsedJson&&) noexcept = default;
  ParsedJson& operator=(ParsedJson&&) = delete;
  ~ParsedJson();

  const Json& operator*() const { return value_; }
  const Json* operator->() const { return &value_; }
  // For callers that may allocate memory, as the destructor of the result does.
  Json&& Take() { return std::move(value_); }

 private:
  Json value_;
};

// In ascending order, by heap sort: a quarter of the code of std::sort.
void SortNames(std::span<std::string_view> names);

// Parses `text`. An error names `what` and the byte, the depth, or the key that an object has
// twice. Time and memory grow linearly with the text.
Result<ParsedJson> ParseJson(std::string_view text, const std::string& what);

// Parses `text`, which must be an object, and passes its members to `take` as they are read: at
// most one of them is held. Ends with the first error of `take`, which must itself refuse duplicate
// keys.
using MemberSink = FunctionRef<Status(std::string& key, Json& value)>;
Status ForMembers(std::string_view text, const std::string& what, MemberSink take);

// `value` as text for an error message: valid UTF-8, at most about 80 bytes. Arrays and objects are
// only named.
std::string Shown(const Json& value);

// The member `key` of `value`; null if `value` is no object or lacks it.
const Json* FindMember(const Json& value, std::string_view key);

// Whether `value` is the string `text`. The library's comparison first creates a value of `text`,
// and ends the program if there is no memory for that.
bool IsText(const Json& value, std::string_view text);

// A whole number in [least, most], if `value` is one.
std::optional<std::int64_t> WholeNumber(const Json& value, std::int64_t least, std::int64_t most);

// An array of token ids: whole numbers from 0 on that fit. The caller checks whether they are in a
// vocabulary.
Result<std::vector<std::int32_t>> ReadTokenIds(const Json& json);

}  // namespace gpt2
