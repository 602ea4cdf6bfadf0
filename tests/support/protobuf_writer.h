// Writes messages of Protocol Buffers, for tests.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpt2 {

inline std::string Varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
  return bytes + static_cast<char>(value);
}

// A field that is a number, or text, bytes or a message.
inline std::string NumberField(std::uint32_t number, std::uint64_t value) {
  return Varint(number << 3) + Varint(value);
}
inline std::string BytesField(std::uint32_t number, std::string_view bytes) {
  return Varint(number << 3 | 2) + Varint(bytes.size()) + std::string(bytes);
}
inline std::string FloatField(std::uint32_t number, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  std::string bytes = Varint(number << 3 | 5);
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift & 0xff);
  return bytes;
}

}  // namespace gpt2
