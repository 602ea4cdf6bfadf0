// What the operations on an engine share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/api/engine.h"
#include "engine/base/function_ref.h"
#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/text/text_encoder.h"

namespace gpt2 {

// Ids that are handed on at once.
inline constexpr std::size_t kPortion = 4096;

// Fails where no model is loaded.
Status NeedModel(const Gpt2Engine& engine);

// Fails where no tokenizer is loaded. `so` ends the sentence: what works without one.
Status NeedTokenizer(const Gpt2Engine& engine, const char* so);

// Options that are an object, or nothing.
Result<ParsedJson> ReadOptions(std::string_view text);

// Passes the ids of `prompt` to `take`, some at a time, with what the rules add at the ends of a
// text.
Status ForPromptIds(const Gpt2Engine& engine, const PromptBytes& prompt, bool special,
                    TextEnds ends, FunctionRef<Status(std::span<const std::int32_t> ids)> take);

}  // namespace gpt2
