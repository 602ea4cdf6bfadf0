#include "engine/api/reply.h"

#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "engine/base/function_ref.h"
#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/format/json_writer.h"

namespace gpt2 {
namespace {

const char* WriteError(const Error& error, std::string& reply) {
  reply.clear();
  JsonWriter out(reply);
  out.Open('{').Key("error").Open('{').Member("code", ErrorCodeName(error.code));
  out.Member("message", std::string_view(error.message)).Close('}').Close('}');
  return reply.c_str();
}

}  // namespace

Error Misuse(const std::string& what) {
  return Error{ErrorCode::kInvalidArgument, what};
}

const char* RunFor(std::string& reply, FunctionRef<Status()> operation) {
  try {
    const Status status = operation();
    return status.ok() ? nullptr : WriteError(status.error(), reply);
  } catch (const std::bad_alloc&) {
    return kOutOfMemoryReply;
  } catch (const std::length_error&) {  // of a string or vector that no memory could hold
    return kOutOfMemoryReply;
  }
}

Status WriteResult(std::string& reply, FunctionRef<Status(JsonWriter& out)> operation) {
  reply = R"({"result":)";
  JsonWriter out(reply);
  GPT2_TRY(operation(out));
  reply += '}';
  return Done{};
}

const char* AnswerFor(std::string& reply, FunctionRef<Status(JsonWriter& out)> operation) {
  const char* error = RunFor(reply, [&] { return WriteResult(reply, operation); });
  return error != nullptr ? error : reply.c_str();
}

std::string_view TextOfFile(const Json& files, std::string_view name) {
  const Json* const file = FindMember(files, name);
  const auto* const text = file == nullptr ? nullptr : file->get_ptr<const std::string*>();
  return text == nullptr ? std::string_view() : *text;
}

}  // namespace gpt2
