// Generation options from the JSON of the web API.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/generate/options.h"

namespace gpt2 {

// The JSON of a request; an error is the caller's.
Result<ParsedJson> ParseRequest(std::string_view text, const std::string& what);

// Fails, listing `names`, where `json` is not an object or has a member of another name. `what`
// says what it is: "the request".
Status CheckNames(const Json& json, const std::string& what,
                  std::initializer_list<std::string_view> names);

// The flag `name` of a request, false where it has none.
Result<bool> ReadFlag(const Json& request, const std::string& name);

// Sets `option` to `value`. An error says that it is the value of `name`, and names the range.
Status ReadNumber(const NumberOption& option, const std::string& name, const Json& value,
                  GenerateOptions& options);

// Starts from `defaults`. Names the option and its range where a value does not fit, and lists
// the options that exist, if an option does not.
Result<GenerateOptions> ReadGenerateOptions(const Json& json, GenerateOptions defaults);

}  // namespace gpt2
