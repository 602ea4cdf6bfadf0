// Files and folders on disk, by descriptor: a name may refer to another file at any moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "engine/base/function_ref.h"
#include "engine/base/result.h"

namespace gpt2::tools {

namespace fs = std::filesystem;

// The message of errno.
std::string SystemReason();

// "cannot WHAT PATH: " and the message of errno.
Error FileError(const char* what, const fs::path& path);

// Owns a file descriptor, or none.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  bool is_open() const { return number_ >= 0; }
  int number() const { return number_; }

 private:
  int number_;
};

using TakeBytes = FunctionRef<Status(std::span<const std::byte>)>;

// The whole of a file or pipe, or an error that names it.
Result<std::string> ReadFile(const fs::path& path);

// An open folder. All files read through it are in this very folder, even if another one takes its
// path.
class Folder {
 public:
  static Result<Folder> Open(const fs::path& path);

  const fs::path& path() const { return path_; }
  int descriptor() const { return descriptor_.number(); }

  // Whether `path` still leads to this folder.
  bool IsAt(const fs::path& path) const;

  // Whether there is an entry `name`, including a dangling link.
  bool Has(const std::string& name) const;

  // Bytes of the file `name`.
  Result<std::uint64_t> SizeOf(const std::string& name) const;

  // Calls take(bytes) for the bytes of `name` in order. Fails if it is not a regular file, or
  // changes while it is read.
  Status Stream(const std::string& name, TakeBytes take) const;
  Result<std::string> Read(const std::string& name) const;
  // The `size` bytes of `name` from `begin` on; fewer at the end of the file.
  Result<std::string> ReadPart(const std::string& name, std::uint64_t begin,
                               std::uint64_t size) const;

 private:
  Folder(fs::path path, Descriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}

  fs::path path_;  // for messages
  Descriptor descriptor_;
};

// An error about a file in `folder`, which a reader knows only by name.
inline Error InFolder(const Folder& folder, const Error& error) {
  return Error{error.code, folder.path().string() + "/" + error.message};
}

// A new file, written from beginning to end.
class OutputFile {
 public:
  // Fails if `folder` already has an entry `name`.
  static Result<OutputFile> Create(const Folder& folder, const std::string& name);

  // Also fails after the process was asked to end (interruption.h).
  Status Write(std::span<const std::byte> bytes);

  // Returns after all bytes are on the disk.
  Status Close();

 private:
  struct CloseStream {
    void operator()(std::FILE* stream) const { std::fclose(stream); }
  };

  OutputFile(fs::path path, std::FILE* stream) : path_(std::move(path)), stream_(stream) {}

  fs::path path_;  // for messages
  std::unique_ptr<std::FILE, CloseStream> stream_;
};

}  // namespace gpt2::tools
