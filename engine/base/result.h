// Errors as values, returned by functions whose input may be invalid.
#pragma once

#include <cassert>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gpt2 {

enum class ErrorCode {
  kInvalidArgument,  // a caller's option or argument is outside its range
  kCapacity,         // the input is longer than the model's context
  kCorrupt,          // bytes that violate their format
  kUnsupported,      // well-formed, but not supported by this engine
  kNotFound,         // a required file or tensor is missing
  kOutOfMemory,
  kIo,
};

// The stable, lower-case name of `code`, as the web API's `error.code` spells it.
std::string_view ErrorCodeName(ErrorCode code);

// `message` names the file, tensor or option, and says what was expected and what was found.
struct Error {
  ErrorCode code;
  std::string message;
};

// A `T`, or the reason why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT: implicit by design
  Result(Error error)                            // NOLINT: implicit by design
      : error_(std::make_unique<Error>(std::move(error))) {}
  // Takes the error of another result: see TakeError.
  Result(std::unique_ptr<Error> error) : error_(std::move(error)) {}  // NOLINT: implicit by design

  bool ok() const { return error_ == nullptr; }

  // Only when ok().
  T& value() {
    assert(ok());
    return *value_;
  }
  const T& value() const {
    assert(ok());
    return *value_;
  }

  // Only when !ok().
  const Error& error() const {
    assert(!ok());
    return *error_;
  }
  // Moves the error out, for a caller that passes it on. Only when !ok(), and at most once.
  std::unique_ptr<Error> TakeError() { return std::move(error_); }

 private:
  // Separate members: a variant of both takes four times the code to create, move and destroy.
  std::unique_ptr<Error> error_;  // null if ok()
  std::optional<T> value_;
};

struct Done {};
using Status = Result<Done>;

#define GPT2_CONCAT_INNER(a, b) a##b
#define GPT2_CONCAT(a, b) GPT2_CONCAT_INNER(a, b)

// Returns from the function with the error of `expression` (a Result), if it has one.
#define GPT2_TRY(expression)                                                                \
  do {                                                                                      \
    if (auto gpt2_result = (expression); !gpt2_result.ok()) return gpt2_result.TakeError(); \
  } while (false)

// Declares or assigns `target` from the value of `expression`, or returns its error.
#define GPT2_ASSIGN(target, expression)                     \
  auto GPT2_CONCAT(gpt2_result_, __LINE__) = (expression);  \
  if (!GPT2_CONCAT(gpt2_result_, __LINE__).ok())            \
    return GPT2_CONCAT(gpt2_result_, __LINE__).TakeError(); \
  target = std::move(GPT2_CONCAT(gpt2_result_, __LINE__).value())

}  // namespace gpt2
