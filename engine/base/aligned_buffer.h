// Owned memory that SIMD loads may start in.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>

#include "engine/base/result.h"

namespace gpt2 {

inline constexpr std::size_t kAlignment = 64;  // bytes: one cache line, four SIMD vectors

constexpr std::size_t RoundUp(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

constexpr std::size_t CeilDiv(std::size_t value, std::size_t divisor) {
  return (value + divisor - 1) / divisor;
}

// `size()` values of T, zeroed, aligned to kAlignment, freed with the buffer.
template <typename T>
class AlignedBuffer {
 public:
  AlignedBuffer() = default;

  // Fails with kOutOfMemory, naming `what`, instead of aborting.
  static Result<AlignedBuffer> Create(std::size_t size, const char* what) {
    AlignedBuffer buffer;
    const std::size_t most = (std::numeric_limits<std::size_t>::max() - kAlignment) / sizeof(T);
    void* memory = nullptr;
    if (size <= most) {
      const std::size_t bytes = RoundUp(size * sizeof(T) + (size == 0 ? 1 : 0), kAlignment);
      memory = std::aligned_alloc(kAlignment, bytes);
      if (memory != nullptr) std::memset(memory, 0, bytes);
    }
    if (memory == nullptr) {
      return Error{ErrorCode::kOutOfMemory, "no memory for " + std::string(what) + ": " +
                                                std::to_string(size) + " values of " +
                                                std::to_string(sizeof(T)) + " bytes"};
    }
    buffer.memory_.reset(static_cast<T*>(memory));
    buffer.size_ = size;
    return buffer;
  }

  T* data() { return memory_.get(); }
  const T* data() const { return memory_.get(); }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }

 private:
  struct Free {
    void operator()(T* memory) const { std::free(memory); }
  };
  std::unique_ptr<T, Free> memory_;
  std::size_t size_ = 0;
};

}  // namespace gpt2
