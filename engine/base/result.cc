#include "engine/base/result.h"

#include <string_view>

namespace gpt2 {

std::string_view ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid-argument";
    case ErrorCode::kCapacity:
      return "capacity";
    case ErrorCode::kCorrupt:
      return "corrupt";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kNotFound:
      return "not-found";
    case ErrorCode::kOutOfMemory:
      return "out-of-memory";
    case ErrorCode::kIo:
      return "io";
  }
  return "unknown";
}

}  // namespace gpt2
