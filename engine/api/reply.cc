#include "engine/api/reply.h"

#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/format/json_writer.h"

namespace gpt2 {

Error Misuse(const std::string& what) {
  return Error{ErrorCode::kInvalidArgument, what};
}

const char* WriteError(const Error& error, std::string& reply) {
  reply.clear();
  JsonWriter out(reply);
  out.Open('{').Key("error").Open('{').Member("code", ErrorCodeName(error.code));
  out.Member("message", std::string_view(error.message)).Close('}').Close('}');
  return reply.c_str();
}

}  // namespace gpt2
