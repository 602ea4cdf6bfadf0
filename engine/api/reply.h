// What functions of the API reply: JSON, see api.h.
#pragma once

#include <string>

#include "engine/base/result.h"

namespace gpt2 {

// What a call replies that runs out of memory. Nothing in the engine throws but the standard
// library that finds none, which the functions of the API catch. The reply itself needs no memory.
inline constexpr const char* kOutOfMemoryReply =
    R"({"error":{"code":"out-of-memory","message":"the engine is out of memory; )"
    R"(memory taken by this call is freed"}})";

// The error of a call that the caller got wrong: `what`, as kInvalidArgument.
Error Misuse(const std::string& what);

// Writes the reply that is `error`, and returns its text.
const char* WriteError(const Error& error, std::string& reply);

}  // namespace gpt2
