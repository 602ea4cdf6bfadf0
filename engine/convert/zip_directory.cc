#include "engine/convert/zip_directory.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/convert/little_endian.h"
#include "engine/text/quoted.h"

namespace gpt2 {
namespace {

constexpr std::string_view kEndMagic("PK\5\6", 4);
constexpr std::string_view kZip64LocatorMagic("PK\6\7", 4);
constexpr std::string_view kZip64EndMagic("PK\6\6", 4);
constexpr std::string_view kEntryMagic("PK\1\2", 4);
constexpr std::size_t kEndRecord = 22;
constexpr std::size_t kZip64Locator = 20;
constexpr std::size_t kZip64End = 56;
constexpr std::uint64_t kInZip64 = 0xffffffff;  // the value is in the zip64 extra field
constexpr std::uint16_t kZip64Field = 1;
constexpr std::uint64_t kEncrypted = 1;  // a flag
// A GPT-2 of 1024 layers has 12,292 tensors, and each a file.
constexpr std::uint64_t kMostEntries = 1 << 16;
constexpr std::uint64_t kMostDirectoryBytes = std::uint64_t{16} << 20;

Error BadZip(std::string message) {
  return Error{ErrorCode::kCorrupt, std::move(message)};
}

// The offset of the end record, which states its own length.
std::size_t FindEnd(std::string_view tail) {
  for (std::size_t at = tail.rfind(kEndMagic); at != std::string_view::npos;
       at = at == 0 ? std::string_view::npos : tail.rfind(kEndMagic, at - 1)) {
    const std::size_t rest = tail.size() - at;
    if (rest >= kEndRecord && WholeOf(tail.substr(at + 20, 2)) == rest - kEndRecord) return at;
  }
  return std::string_view::npos;
}

// Sizes and offset of an entry that do not fit 32 bits.
void TakeZip64Field(std::string_view extra, std::uint64_t& stored, ZipEntry& entry) {
  LittleEndian at(extra);
  while (true) {
    const std::uint64_t id = at.Whole(2);
    const std::string_view field = at.Bytes(at.Whole(2));
    if (at.is_short()) return;
    if (id != kZip64Field) continue;
    LittleEndian values(field);
    for (std::uint64_t* const value : {&entry.size, &stored, &entry.begin}) {
      if (*value != kInZip64) continue;
      const std::uint64_t wide = values.Whole(8);
      if (!values.is_short()) *value = wide;
    }
    return;
  }
}

}  // namespace

Crc32::Crc32() {
  constexpr std::uint32_t kPolynomial = 0xedb88320;  // APPNOTE.TXT 4.4.7, reversed
  for (std::uint32_t byte = 0; byte < table_.size(); ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ ((rest & 1) != 0 ? kPolynomial : 0);
    table_[byte] = rest;
  }
}

void Crc32::Update(std::span<const std::byte> bytes) {
  for (const std::byte byte : bytes) {
    state_ = table_[(state_ ^ static_cast<std::uint32_t>(byte)) & 0xff] ^ (state_ >> 8);
  }
}

Status CheckCrc(std::string_view name, std::uint32_t expected, const Crc32& crc) {
  if (expected == 0 || crc.value() == expected) return Done{};
  return BadZip(Concat("its file ", Quoted(name), " is damaged: its CRC-32 is ", crc.value(),
                       ", the central directory says ", expected));
}

Result<ZipDirectory> FindZipDirectory(std::string_view tail, std::uint64_t file_size) {
  const std::size_t end = FindEnd(tail);
  if (end == std::string_view::npos) {
    return BadZip("it begins like a zip file, but has no end record");
  }
  ZipDirectory directory{.begin = WholeOf(tail.substr(end + 16, 4)),
                         .size = WholeOf(tail.substr(end + 12, 4)),
                         .count = WholeOf(tail.substr(end + 10, 2))};
  std::uint64_t records = file_size - tail.size() + end;  // where the list must end
  if (end >= kZip64Locator &&
      tail.substr(end - kZip64Locator, kZip64LocatorMagic.size()) == kZip64LocatorMagic) {
    const std::uint64_t place = WholeOf(tail.substr(end - kZip64Locator + 8, 8));
    const std::uint64_t first = file_size - tail.size();
    const std::string_view record =
        place < first || place - first > end
            ? std::string_view()
            : tail.substr(static_cast<std::size_t>(place - first), kZip64End);
    if (record.size() < kZip64End || !record.starts_with(kZip64EndMagic)) {
      return BadZip("the zip64 end record is not where its locator says");
    }
    directory = {.begin = WholeOf(record.substr(48, 8)),
                 .size = WholeOf(record.substr(40, 8)),
                 .count = WholeOf(record.substr(32, 8))};
    records = place;
  }
  if (directory.begin > records || directory.size > records - directory.begin) {
    return BadZip("the central directory is not where the end record says");
  }
  if (directory.count > kMostEntries || directory.size > kMostDirectoryBytes) {
    return BadZip(Concat("the central directory has ", directory.count, " files in ",
                         directory.size, " bytes, expected at most ", kMostEntries, " in ",
                         kMostDirectoryBytes));
  }
  return directory;
}

Result<std::vector<ZipEntry>> ReadZipDirectory(std::string_view bytes,
                                               const ZipDirectory& directory) {
  LittleEndian at(bytes);
  std::vector<ZipEntry> entries;
  for (std::uint64_t i = 0; i < directory.count; ++i) {
    const std::string_view magic = at.Bytes(4);
    at.Bytes(4);  // versions
    const std::uint64_t flags = at.Whole(2), method = at.Whole(2);
    at.Bytes(4);  // time and date
    const auto crc = static_cast<std::uint32_t>(at.Whole(4));
    std::uint64_t stored = at.Whole(4);
    ZipEntry entry{.size = at.Whole(4), .crc = crc};
    const std::uint64_t name_size = at.Whole(2), extra_size = at.Whole(2);
    const std::uint64_t comment_size = at.Whole(2);
    at.Bytes(8);  // disk and attributes
    entry.begin = at.Whole(4);
    entry.name = at.Bytes(name_size);
    TakeZip64Field(at.Bytes(extra_size), stored, entry);
    at.Bytes(comment_size);
    if (at.is_short() || magic != kEntryMagic) {
      return BadZip(Concat("the central directory ends at file ", i, " of ", directory.count));
    }
    if ((flags & kEncrypted) != 0 || method != 0) {
      const std::string how =
          (flags & kEncrypted) != 0
              ? std::string("encrypted")
              : Concat("compressed (method ", method, method == 8 ? ", deflate" : "", ")");
      return Error{ErrorCode::kUnsupported, Concat("its file ", Quoted(entry.name), " is ", how,
                                                   ", expected it stored as torch.save writes it")};
    }
    if (stored != entry.size || entry.begin > directory.begin ||
        entry.size > directory.begin - entry.begin) {
      return BadZip(Concat("its file ", Quoted(entry.name), " of ", entry.size,
                           " bytes does not fit the file"));
    }
    entries.push_back(entry);
  }
  return entries;
}

Result<std::size_t> ReadZipLocalHead(std::string_view head, std::string_view name) {
  LittleEndian at(head);
  const std::string_view magic = at.Bytes(4);
  at.Bytes(22);
  const std::uint64_t name_size = at.Whole(2), extra_size = at.Whole(2);
  if (magic != kZipLocalMagic || name_size != name.size() || at.Bytes(name.size()) != name) {
    return BadZip(Concat("its file ", Quoted(name), " is not where the central directory says"));
  }
  return kZipLocalHead + name.size() + static_cast<std::size_t>(extra_size);
}

}  // namespace gpt2
