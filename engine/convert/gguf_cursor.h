// Reads the bytes of a GGUF file, item by item: private to gguf_reader.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/convert/gguf_reader.h"

namespace gpt2 {

// Reads from bytes that may end too early. Its values are then meaningless, and `is_short` is true.
class GgufReader::Cursor {
 public:
  struct TooLong {
    std::string_view field;
    std::uint64_t size;
    std::uint64_t most;
  };

  explicit Cursor(std::string_view rest) : rest_(rest) {}

  // A whole number of `size` bytes, at most 8.
  std::uint64_t Whole(std::size_t size) {
    std::uint64_t value = 0;
    const std::string_view bytes = Bytes(size);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    }
    return value;
  }

  // A text of at most `most` bytes. For a longer one, `too_long` has an error about `field`.
  std::string_view Text(std::string_view field, std::uint64_t most) {
    const std::uint64_t size = Whole(8);
    if (size > most && !is_short_) {
      too_long_ = TooLong{field, size, most};
      is_short_ = true;
    }
    return Bytes(static_cast<std::size_t>(std::min(size, most)));
  }

  std::size_t size() const { return rest_.size(); }
  bool is_short() const { return is_short_; }
  const std::optional<TooLong>& too_long() const { return too_long_; }

 private:
  std::string_view Bytes(std::size_t size) {
    if (rest_.size() < size || is_short_) {
      is_short_ = true;
      return {};
    }
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }

  std::string_view rest_;
  bool is_short_ = false;
  std::optional<TooLong> too_long_;
};

}  // namespace gpt2
