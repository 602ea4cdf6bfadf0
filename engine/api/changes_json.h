// Changes and captures of a request, from the JSON of its options.
#pragma once

#include <cstddef>
#include <string_view>

#include "engine/api/engine.h"
#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/generate/context.h"

namespace gpt2 {

// Whether `name` is an option that ContextOf reads.
bool IsChangeOption(std::string_view name);

// The context of a request for a text of `tokens` tokens. Without changes and captures in `options`
// it is that of the model; otherwise another one, whose cache holds nothing that was computed with
// other changes. Captures compute all tokens again; a request that does not allow them refuses
// them.
Result<Context*> ContextOf(Gpt2Engine& engine, const Json& options, std::size_t tokens,
                           bool may_capture);

}  // namespace gpt2
