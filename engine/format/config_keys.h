// Checks which keys of a config.json change what the model computes.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/format/json.h"

namespace gpt2 {

// Checks the keys of the object `config` that ReadConfigJson does not read. `is_bigcode` says
// whether it describes a GPT-BigCode or a GPT-2. Fails at a key that changes the result, and names
// it. This is a known key such as `pruned_heads`, or an unknown one whose name contains a word of
// the forward pass, such as `rotary_dim`. Adds one sentence to `warnings` that names the ignored
// keys: all other unknown ones, and generation settings. Never reports a key that is null, false,
// zero or empty.
Status CheckConfigKeys(const Json& config, bool is_bigcode, std::vector<std::string>& warnings);

}  // namespace gpt2
