// Checks which keys of a config.json change what the model computes.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/format/json.h"

namespace gpt2 {

// Looks at the keys of `config`, an object, that ReadConfigJson does not read. `is_bigcode` says
// whether it is of a GPT-BigCode or of a GPT-2. Fails, naming it, at a key that changes the result.
// That is a known key such as `pruned_heads`, or an unknown key whose name has a word of the
// forward pass, such as `rotary_dim`. Appends one sentence to `warnings` with the other unknown
// keys and the generation settings, which are ignored. A key that is null, false, zero or empty is
// not reported.
Status CheckConfigKeys(const Json& config, bool is_bigcode, std::vector<std::string>& warnings);

}  // namespace gpt2
