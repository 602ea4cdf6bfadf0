// The list of files at the end of a zip archive (PKWARE, APPNOTE.TXT 4.3 and 4.5), also of one of
// more than 4 GB. What the archive says before each file is not relied on here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace gpt2 {

// Bytes at the end of an archive that say where its list is: the end record with the longest
// comment, and the two of zip64.
inline constexpr std::size_t kZipTail = 22 + 65535 + 20 + 56;

// Bytes before a file's name, in front of its data; after the name there may be an extra field.
inline constexpr std::size_t kZipLocalHead = 30;

inline constexpr std::string_view kZipLocalMagic("PK\3\4", 4);

// Where the list is.
struct ZipDirectory {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;  // bytes
  std::uint64_t count = 0;
};

struct ZipEntry {
  std::string_view name;    // borrowed
  std::uint64_t begin = 0;  // of its local head
  std::uint64_t size = 0;   // bytes, as stored
};

// Finds the list of an archive of `file_size` bytes in `tail`, its last bytes, kZipTail or all.
// Messages do not name the archive.
Result<ZipDirectory> FindZipDirectory(std::string_view tail, std::uint64_t file_size);

// The entries in `bytes`, the list at `directory`. Borrows from `bytes`. Fails, naming the file,
// where one is compressed or encrypted.
Result<std::vector<ZipEntry>> ReadZipDirectory(std::string_view bytes,
                                               const ZipDirectory& directory);

// The bytes between the beginning of `head`, a file's local head, and its data. Fails unless it is
// the head of `name`. `head` has kZipLocalHead + name.size() bytes.
Result<std::size_t> ReadZipLocalHead(std::string_view head, std::string_view name);

}  // namespace gpt2
