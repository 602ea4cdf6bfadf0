// Generation options, and whether they are taken.
#pragma once

#include "engine/format/json.h"
#include "tests/fuzz/support/fuzz.h"

namespace gpt2::fuzz {

// Options of any names and values, many of them at the end of their range.
Json AnyOptions(FuzzedDataProvider& input);

// Options that are taken, for a short text.
Json FittingOptions(FuzzedDataProvider& input);

// The options of `json` are taken exactly if each value fits its table row, and are then set.
void CheckOptions(const Json& json);

}  // namespace gpt2::fuzz
