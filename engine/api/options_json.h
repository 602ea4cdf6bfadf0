// Generation options from the JSON of the web API.
#pragma once

#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/generate/options.h"

namespace gpt2 {

// Starts from the defaults. Names the option and its range where a value does not fit, and lists
// what there is where an option does not exist.
Result<GenerateOptions> ReadGenerateOptions(const Json& json);

}  // namespace gpt2
