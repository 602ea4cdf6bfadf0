// Owned memory that is aligned for SIMD loads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>

#include "engine/base/concat.h"
#include "engine/base/result.h"

namespace gpt2 {

inline constexpr std::size_t kAlignment = 64;  // bytes: one cache line, four SIMD vectors

constexpr std::size_t RoundUp(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

constexpr std::size_t CeilDiv(std::size_t value, std::size_t divisor) {
  return (value + divisor - 1) / divisor;
}

// `size()` values of T, aligned to kAlignment, freed with the buffer.
template <typename T>
class AlignedBuffer {
 public:
  AlignedBuffer() = default;

  // Returns a buffer of zeros, or kOutOfMemory with a message that names `what`. Natively the
  // system provides zeros on first access, so an unused part of a large buffer costs nothing.
  static Result<AlignedBuffer> Create(std::size_t size, const char* what) {
    return Take(size, what, [](std::size_t bytes) { return std::calloc(1, bytes); });
  }

  // Like Create, but the values are unspecified: for callers that set all of them. Touches no
  // memory, also in WebAssembly.
  static Result<AlignedBuffer> CreateUnset(std::size_t size, const char* what) {
    return Take(size, what, [](std::size_t bytes) { return std::malloc(bytes); });
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };

  static Result<AlignedBuffer> Take(std::size_t size, const char* what,
                                    void* (*allocate)(std::size_t bytes)) {
    AlignedBuffer buffer;
    const std::size_t most = (std::numeric_limits<std::size_t>::max() - kAlignment) / sizeof(T);
    if (size <= most) buffer.memory_.reset(allocate(size * sizeof(T) + kAlignment));
    if (!buffer.memory_) {
      return Error{ErrorCode::kOutOfMemory,
                   Concat("no memory for ", what, ": ", size, " values of ", sizeof(T), " bytes")};
    }
    const auto address = reinterpret_cast<std::uintptr_t>(buffer.memory_.get());
    buffer.data_ = reinterpret_cast<T*>(RoundUp(address, kAlignment));
    buffer.size_ = size;
    return buffer;
  }

  std::unique_ptr<void, Free> memory_;  // starts less than kAlignment bytes before data_
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace gpt2
