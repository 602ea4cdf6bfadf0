// Reading JSON that may be anything: no exceptions, no surprises.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace gpt2 {

using Json = nlohmann::ordered_json;

// Parses `text`; an error names `what`, and says "duplicate" when a key stands twice in one object.
Result<Json> ParseJson(std::string_view text, const std::string& what);

// `value` as text for an error message: valid UTF-8, at most some 80 bytes.
std::string Shown(const Json& value);

// A whole number in [least, most], if `value` is one.
std::optional<std::int64_t> WholeNumber(const Json& value, std::int64_t least, std::int64_t most);

// An array of token ids, whole numbers from 0 on that fit; whether they are in a vocabulary is for
// its owner to check.
Result<std::vector<std::int32_t>> ReadTokenIds(const Json& json);

}  // namespace gpt2
