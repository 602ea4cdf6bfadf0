// Reads messages of Protocol Buffers (protobuf.dev/programming-guides/encoding), strictly.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/base/function_ref.h"
#include "engine/base/result.h"

namespace gpt2 {

// A field of a message: its number, and its value by type.
struct ProtoField {
  std::uint32_t number = 0;
  enum class Type { kNumber, kFixed32, kFixed64, kBytes } type = Type::kNumber;
  std::uint64_t value = 0;  // a number, or the bits of a fixed-size value
  std::string_view bytes;   // a text, bytes or a message
};

// Calls `take` with each field of `message` until it fails. Fails if a field is truncated, is a
// group or has the number 0. Errors name no file.
Status ForFields(std::string_view message, FunctionRef<Status(const ProtoField& field)> take);

}  // namespace gpt2
