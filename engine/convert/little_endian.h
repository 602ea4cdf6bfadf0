// Reads numbers and texts from bytes that may end too early.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gpt2 {

// The unsigned number in at most 8 `bytes`.
inline std::uint64_t WholeOf(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return value;
}

// Consumes from the front of `bytes`, which are borrowed. If they end too early, is_short() is true
// and the results are empty or 0.
class LittleEndian {
 public:
  explicit LittleEndian(std::string_view bytes) : bytes_(bytes) {}

  std::string_view Bytes(std::uint64_t size) {
    if (is_short_ || size > bytes_.size() - taken_) {
      is_short_ = true;
      return {};
    }
    const std::string_view bytes = bytes_.substr(taken_, static_cast<std::size_t>(size));
    taken_ += bytes.size();
    return bytes;
  }

  // A number of `size` bytes, at most 8.
  std::uint64_t Whole(std::size_t size) { return WholeOf(Bytes(size)); }

  // The text up to the next line break, which is consumed, too.
  std::string_view Line() {
    const std::size_t end = bytes_.find('\n', taken_);
    if (end == std::string_view::npos) is_short_ = true;
    const std::string_view line = Bytes(end - taken_);
    Bytes(1);
    return line;
  }

  std::size_t taken() const { return taken_; }
  bool is_short() const { return is_short_; }

 private:
  std::string_view bytes_;
  std::size_t taken_ = 0;
  bool is_short_ = false;
};

}  // namespace gpt2
