// Replies of the API's functions: JSON, see api.h.
#pragma once

#include <string>

#include "engine/base/result.h"

namespace gpt2 {

// The reply of a call that runs out of memory. In the engine, only the standard library throws,
// when it finds no memory, and the API's functions catch that. The reply itself needs no memory.
inline constexpr const char* kOutOfMemoryReply =
    R"({"error":{"code":"out-of-memory","message":"the engine is out of memory; )"
    R"(memory taken by this call is freed"}})";

// An error in the caller's use of the API: `what`, as kInvalidArgument.
Error Misuse(const std::string& what);

// Writes `error` as a reply, and returns its text.
const char* WriteError(const Error& error, std::string& reply);

}  // namespace gpt2
