// The list of files at the end of a zip archive (PKWARE, APPNOTE.TXT 4.3 and 4.5), also of more
// than 4 GB. The copy of each entry before its file is not used, because it may differ.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace gpt2 {

// Bytes at the end of an archive that locate its list: the end record with the longest comment, and
// the two of zip64.
inline constexpr std::size_t kZipTail = 22 + 65535 + 20 + 56;

// Bytes before a file's name, which precedes its data. An extra field may follow the name.
inline constexpr std::size_t kZipLocalHead = 30;

inline constexpr std::string_view kZipLocalMagic("PK\3\4", 4);

// The place of the list in the archive.
struct ZipDirectory {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;  // bytes
  std::uint64_t count = 0;
};

struct ZipEntry {
  std::string_view name;    // borrowed
  std::uint64_t begin = 0;  // of its local head
  std::uint64_t size = 0;   // bytes, as stored
  std::uint32_t crc = 0;    // CRC-32; 0 if the writer computed none, as PyTorch can be told
};

// The CRC-32 of bytes that arrive in portions.
class Crc32 {
 public:
  Crc32();
  void Update(std::span<const std::byte> bytes);
  std::uint32_t value() const { return ~state_; }

 private:
  std::array<std::uint32_t, 256> table_;  // of a byte
  std::uint32_t state_ = 0xffffffff;
};

// Fails if `crc` is not that of the file `name`.
Status CheckCrc(std::string_view name, std::uint32_t expected, const Crc32& crc);

// Finds the list of an archive of `file_size` bytes in `tail`, its last kZipTail bytes or all of
// it. Messages do not name the archive.
Result<ZipDirectory> FindZipDirectory(std::string_view tail, std::uint64_t file_size);

// The entries in `bytes`, the list at `directory`. Borrows from `bytes`. Fails, naming the file, if
// one is compressed or encrypted.
Result<std::vector<ZipEntry>> ReadZipDirectory(std::string_view bytes,
                                               const ZipDirectory& directory);

// The bytes between the beginning of `head`, a file's local head, and its data. Fails unless it is
// the head of `name`. `head` has kZipLocalHead + name.size() bytes.
Result<std::size_t> ReadZipLocalHead(std::string_view head, std::string_view name);

}  // namespace gpt2
