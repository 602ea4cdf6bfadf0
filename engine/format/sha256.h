// SHA-256 (FIPS 180-4), which verifies pieces of weights.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace gpt2 {

using Sha256Digest = std::array<std::uint8_t, 32>;

// Hashes bytes that arrive in pieces of any size. Not thread-safe.
class Sha256 {
 public:
  void Update(std::span<const std::byte> bytes);
  // The digest of all bytes so far. Do not use the object afterwards.
  Sha256Digest Finish();

 private:
  void Compress(const std::byte* block);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, 64> block_;
  std::size_t block_size_ = 0;
  std::uint64_t total_bytes_ = 0;
};

// Lower-case hexadecimal.
std::string ToHex(const Sha256Digest& digest);

}  // namespace gpt2
