// Helpers of the operations on an engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/engine.h"
#include "engine/base/function_ref.h"
#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/generate/context.h"
#include "engine/text/text_encoder.h"

namespace gpt2 {

// Ids that are passed on at a time.
inline constexpr std::size_t kPortion = 4096;

// Fails if no model is loaded.
Status NeedModel(const Gpt2Engine& engine);

// Fails if no tokenizer is loaded. `so` ends the sentence: what works without one.
Status NeedTokenizer(const Gpt2Engine& engine, const char* so);

// Options: an object, or empty.
Result<ParsedJson> ReadOptions(std::string_view text);

// Passes the ids of `prompt` to `take` in portions, including the tokens that the rules add at the
// ends of a text.
Status ForPromptIds(const Gpt2Engine& engine, const PromptBytes& prompt, bool special,
                    TextEnds ends, FunctionRef<Status(std::span<const std::int32_t> ids)> take);

// The context of a request for a text of `tokens` tokens. Without `hooks`, the numbers of changes
// and captures, it is that of the model. Otherwise it is another one, whose cache holds nothing
// that was computed with other changes. Captures run all tokens again.
Result<Context*> ContextOf(Gpt2Engine& engine, std::vector<double> hooks, std::size_t tokens);

}  // namespace gpt2
