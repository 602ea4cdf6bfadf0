#include "weights_tools/files.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "weights_tools/interruption.h"

namespace gpt2::tools {
namespace {

constexpr std::size_t kBlock = 1 << 20;  // bytes per read

// Calls take(bytes) until the end of the file, and returns the number of bytes.
Result<std::uint64_t> StreamToEnd(const Descriptor& file, const fs::path& path, TakeBytes take) {
  std::vector<std::byte> block(kBlock);
  std::uint64_t total = 0;
  while (true) {
    const ssize_t count = read(file.number(), block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return FileError("read", path);
    if (count == 0) return total;
    total += static_cast<std::uint64_t>(count);
    GPT2_TRY(take(std::span(block).first(static_cast<std::size_t>(count))));
  }
}

bool IsSameState(const struct stat& a, const struct stat& b) {
  return a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
         a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

void Append(std::string& text, std::span<const std::byte> bytes) {
  text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// Fails if `begin`, the first bytes of a model's file, are of a pointer or a page in its place.
// web/src/model/sources/weight-chunks.ts has the same rule.
Status CheckContents(const fs::path& path, std::string_view begin) {
  constexpr std::size_t kExamined = 64;
  begin = begin.substr(0, kExamined);
  begin.remove_prefix(std::min(begin.find_first_not_of(" \t\r\n"), begin.size()));
  std::string lower(begin);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  const char* const found =
      lower.starts_with("version https://git-lfs.github.com/")
          ? " is a Git LFS pointer: run `git lfs pull` in the model's repository, and use the file "
            "that it fetches"
      : lower.starts_with("<!doctype") || lower.starts_with("<html")
          ? " is a web page: its host answered so, or it was saved so"
          : nullptr;
  return found == nullptr ? Status(Done{}) : Error{ErrorCode::kCorrupt, path.string() + found};
}

}  // namespace

std::string SystemReason() {
  return std::generic_category().message(errno);
}

Error FileError(const char* what, const fs::path& path) {
  return Error{errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
               std::string("cannot ") + what + " " + path.string() + ": " + SystemReason()};
}

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

Result<std::string> ReadFile(const fs::path& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return FileError("read", path);
  std::string text;
  GPT2_TRY(StreamToEnd(file, path, [&](std::span<const std::byte> bytes) -> Status {
    Append(text, bytes);
    return Done{};
  }));
  return text;
}

Result<Folder> Folder::Open(const fs::path& path) {
  Descriptor descriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.is_open()) return FileError("read", path);
  return Folder(path, std::move(descriptor));
}

bool Folder::IsAt(const fs::path& path) const {
  struct stat own{}, found{};
  return fstat(descriptor(), &own) == 0 && lstat(path.c_str(), &found) == 0 &&
         own.st_dev == found.st_dev && own.st_ino == found.st_ino;
}

bool Folder::Has(const std::string& name) const {
  struct stat found{};
  return fstatat(descriptor(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

Result<std::uint64_t> Folder::SizeOf(const std::string& name) const {
  struct stat found{};
  if (fstatat(descriptor(), name.c_str(), &found, 0) != 0) return FileError("read", path_ / name);
  return static_cast<std::uint64_t>(found.st_size);
}

Result<std::string> Folder::ReadPart(const std::string& name, std::uint64_t begin,
                                     std::uint64_t size) const {
  const Descriptor file(
      openat(descriptor(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!file.is_open()) return FileError("read", path_ / name);
  std::string text;
  while (text.size() < size) {
    std::array<char, 1 << 16> block;  // in parts, because a damaged file may state any size
    const std::size_t wanted = std::min<std::uint64_t>(block.size(), size - text.size());
    const ssize_t count =
        pread(file.number(), block.data(), wanted, static_cast<off_t>(begin + text.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return FileError("read", path_ / name);
    if (count == 0) break;
    text.append(block.data(), static_cast<std::size_t>(count));
  }
  if (begin == 0) GPT2_TRY(CheckContents(path_ / name, text));
  return text;
}

Status Folder::Stream(const std::string& name, TakeBytes take) const {
  const fs::path path = path_ / name;
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  const Descriptor file(
      openat(descriptor(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat before{}, after{};
  if (!file.is_open() || fstat(file.number(), &before) != 0) return FileError("read", path);
  if (!S_ISREG(before.st_mode)) {
    return Error{ErrorCode::kIo, path.string() + " is not a regular file, expected one"};
  }
  bool is_first = true;
  const auto take_checked = [&](std::span<const std::byte> bytes) -> Status {
    if (std::exchange(is_first, false)) {
      GPT2_TRY(CheckContents(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    }
    return take(bytes);
  };
  GPT2_ASSIGN(const std::uint64_t bytes, StreamToEnd(file, path, take_checked));
  if (fstat(file.number(), &after) != 0) return FileError("read", path);
  if (!IsSameState(before, after) || bytes != static_cast<std::uint64_t>(after.st_size)) {
    return Error{ErrorCode::kIo, path.string() + " changed while it was read: run this again"};
  }
  return Done{};
}

Result<std::string> Folder::Read(const std::string& name) const {
  std::string text;
  GPT2_TRY(Stream(name, [&](std::span<const std::byte> bytes) -> Status {
    Append(text, bytes);
    return Done{};
  }));
  return text;
}

Result<OutputFile> OutputFile::Create(const Folder& folder, const std::string& name) {
  const fs::path path = folder.path() / name;
  constexpr mode_t kReadableByAll = 0666;  // less the umask
  const int file = openat(folder.descriptor(), name.c_str(),
                          O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kReadableByAll);
  std::FILE* stream = file < 0 ? nullptr : fdopen(file, "wb");
  if (stream == nullptr) {
    const Error error = FileError("write", path);
    if (file >= 0) close(file);
    return error;
  }
  return OutputFile(path, stream);
}

Status OutputFile::Write(std::span<const std::byte> bytes) {
  if (Interruption::is_wanted()) return Error{ErrorCode::kIo, "interrupted"};
  if (std::fwrite(bytes.data(), 1, bytes.size(), stream_.get()) == bytes.size()) return Done{};
  return FileError("write", path_);
}

Status OutputFile::Close() {
  if (std::fflush(stream_.get()) != 0 || fsync(fileno(stream_.get())) != 0 ||
      std::fclose(stream_.release()) != 0) {
    return FileError("write", path_);
  }
  return Done{};
}

}  // namespace gpt2::tools
