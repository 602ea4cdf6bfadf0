// JSON values for fuzz targets.
#pragma once

#include <string>

#include "engine/format/json.h"
#include "tests/fuzz/support/fuzz.h"

namespace gpt2::fuzz {

// Any JSON value, sometimes nested.
Json AnyJson(FuzzedDataProvider& input, int depth = 0);

// `json` as text; strings that are no UTF-8 become U+FFFD.
std::string TextOf(const Json& json);

}  // namespace gpt2::fuzz
