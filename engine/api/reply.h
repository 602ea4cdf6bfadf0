// Replies of the API's functions: JSON, see api.h.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/function_ref.h"
#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/format/json_writer.h"

namespace gpt2 {

// The reply of a call that runs out of memory. In the engine, only the standard library throws,
// when it finds no memory, and the API's functions catch that. The reply itself needs no memory.
// An array has one address in all files, so callers may compare pointers with it.
inline constexpr char kOutOfMemoryReply[] =
    R"({"error":{"code":"out-of-memory","message":"the engine is out of memory; )"
    R"(memory taken by this call is freed"}})";

// An error in the caller's use of the API: `what`, as kInvalidArgument.
Error Misuse(const std::string& what);

// Runs `operation`. Null, or the error: its text is in `reply`, unless it is kOutOfMemoryReply.
const char* RunFor(std::string& reply, FunctionRef<Status()> operation);

// Replies with the result that `operation` writes.
Status WriteResult(std::string& reply, FunctionRef<Status(JsonWriter& out)> operation);

// The same for a call: the result, or the error as RunFor has it.
const char* AnswerFor(std::string& reply, FunctionRef<Status(JsonWriter& out)> operation);

// The text of the file `name` in `files`, an object of texts by names; empty without it.
std::string_view TextOfFile(const Json& files, std::string_view name);

}  // namespace gpt2
