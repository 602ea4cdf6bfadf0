// Generation options from the JSON of the web API.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/generate/options.h"

namespace gpt2 {

// Parses the JSON of a request; an error is the caller's.
Result<ParsedJson> ParseRequest(std::string_view text, const std::string& what);

// Fails if `json` is not an object or has a member that is not in `names`, which the error lists.
// `what` describes it: "the request".
Status CheckNames(const Json& json, const std::string& what,
                  std::initializer_list<std::string_view> names);

// The flag `name` of a request; false if it is missing.
Result<bool> ReadFlag(const Json& request, const std::string& name);

// Sets `option` to `value`. An error names the option `name` and its range.
Status ReadNumber(const NumberOption& option, const std::string& name, const Json& value,
                  GenerateOptions& options);

// Starts from `defaults`. An error names an invalid option and its range, or lists the options that
// exist.
Result<GenerateOptions> ReadGenerateOptions(const Json& json, GenerateOptions defaults);

}  // namespace gpt2
