// Errors as values: what a function returns when its input may be bad.
#pragma once

#include <cassert>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace gpt2 {

enum class ErrorCode {
  kInvalidArgument,  // a caller's option or argument is outside its range
  kCapacity,         // the input is longer than the model's context
  kCorrupt,          // bytes that are not what their format promises
  kUnsupported,      // well-formed, but not something this engine runs
  kNotFound,         // a file or a tensor that must be there is not
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
  Result(T value) : state_(std::move(value)) {}      // NOLINT: implicit by design
  Result(Error error) : state_(std::move(error)) {}  // NOLINT: implicit by design

  bool ok() const { return std::holds_alternative<T>(state_); }

  // Only when ok().
  T& value() {
    assert(ok());
    return *std::get_if<T>(&state_);
  }
  const T& value() const {
    assert(ok());
    return *std::get_if<T>(&state_);
  }

  // Only when !ok().
  const Error& error() const {
    assert(!ok());
    return *std::get_if<Error>(&state_);
  }

 private:
  std::variant<T, Error> state_;
};

struct Done {};
using Status = Result<Done>;

#define GPT2_CONCAT_INNER(a, b) a##b
#define GPT2_CONCAT(a, b) GPT2_CONCAT_INNER(a, b)

// Leaves the function with the error of `expression` (a Result), if it has one.
#define GPT2_TRY(expression)                                                            \
  do {                                                                                  \
    if (auto gpt2_result = (expression); !gpt2_result.ok()) return gpt2_result.error(); \
  } while (false)

// Declares or assigns `target` from the value of `expression`, or leaves with its error.
#define GPT2_ASSIGN(target, expression)                    \
  auto GPT2_CONCAT(gpt2_result_, __LINE__) = (expression); \
  if (!GPT2_CONCAT(gpt2_result_, __LINE__).ok())           \
    return GPT2_CONCAT(gpt2_result_, __LINE__).error();    \
  target = std::move(GPT2_CONCAT(gpt2_result_, __LINE__).value())

}  // namespace gpt2
