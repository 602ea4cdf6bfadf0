#include "weights_tools/output_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <random>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "weights_tools/files.h"
#include "weights_tools/model_folder.h"

namespace gpt2::tools {
namespace {

Error Refuse(const fs::path& path, const std::string& found) {
  return Error{ErrorCode::kInvalidArgument,
               path.string() + " " + found + ": --force replaces only a model folder"};
}

Error AlreadyThere(const fs::path& out) {
  return Error{ErrorCode::kInvalidArgument, out.string() + " already exists: --force replaces it"};
}

const char* KindOf(fs::file_type type) {
  if (type == fs::file_type::directory) return "folder";
  if (type == fs::file_type::symlink) return "symbolic link";
  return type == fs::file_type::regular ? "file" : "special file";
}

// Whether both paths lead to one file or folder, through links or mounts, too.
bool IsSame(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

bool IsOneOf(std::span<const fs::path> inputs, const fs::path& path) {
  return std::ranges::any_of(inputs, [&](const fs::path& input) { return IsSame(input, path); });
}

bool BelongsTo(std::span<const fs::path> inputs, const fs::path& file) {
  return std::ranges::any_of(inputs, [&](const fs::path& input) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(input, error)) {
      if (IsSame(entry.path(), file)) return true;
    }
    return IsSame(input, file);
  });
}

// "out/" without its slash. Paths that end in "/", "." or ".." name no folder that can be created.
Result<fs::path> NameOfFolder(const fs::path& out) {
  std::string text = out.string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  const fs::path name = fs::path(text).filename();
  if (!name.empty() && name != "." && name != "..") return fs::path(text);
  return Error{ErrorCode::kInvalidArgument,
               "OUT is " + out.string() + ", expected the name of a new folder"};
}

fs::path ParentOf(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// The folder must be empty, or contain the files of one model and no others.
Status CheckReplaceable(const fs::path& folder, std::span<const fs::path> inputs) {
  if (IsSame(folder, ".") || IsOneOf(inputs, folder)) {
    return Refuse(folder, "is the input or the current folder");
  }
  bool has_weights = false;
  bool has_config = false;
  bool is_empty = true;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const fs::file_type type = entry.symlink_status(error).type();
    if (type == fs::file_type::not_found) continue;  // removed meanwhile
    if (type != fs::file_type::regular || !IsModelFile(name)) {
      return Refuse(folder, std::string("has the ") + KindOf(type) + " \"" + name +
                                "\", which does not belong to a model");
    }
    if (BelongsTo(inputs, entry.path())) {
      return Refuse(folder, "has the file \"" + name + "\", which belongs to the input");
    }
    is_empty = false;
    has_config |= name == kConfigFile;
    has_weights |= name == kWeightsFile || IsPieceName(name);
  }
  if (error) {
    return Error{ErrorCode::kIo, "cannot read " + folder.string() + ": " + error.message()};
  }
  if (is_empty || (has_config && has_weights)) return Done{};
  return Refuse(folder, std::string("has no ") + (has_config ? "weights" : kConfigFile));
}

// Returns after the folder's entries are on the disk. Some network file systems cannot tell.
Status SyncFolder(const Folder& folder) {
  if (fsync(folder.descriptor()) == 0 || errno == EINVAL || errno == ENOTSUP) return Done{};
  return FileError("write", folder.path());
}

// Exchanges the names of two folders, in one step where the system can. Where it cannot, a kill in
// between leaves the folder `b` as "<a>.old".
Status ExchangeNames(const fs::path& a, const fs::path& b) {
#ifdef RENAME_EXCHANGE
  if (renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0) return Done{};
  if (errno != EINVAL && errno != ENOSYS) return FileError("replace", b);
#endif
  fs::path aside = a;
  aside += ".old";
  if (rename(b.c_str(), aside.c_str()) != 0) return FileError("replace", b);
  if (rename(a.c_str(), b.c_str()) != 0) {
    const Error error = FileError("replace", b);
    rename(aside.c_str(), b.c_str());
    return error;
  }
  if (rename(aside.c_str(), a.c_str()) != 0) return FileError("rename", aside);
  return Done{};
}

// Removes a model's files, and the folder if it has no others. Returns false if it stays.
bool RemoveModel(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder, error)) files.push_back(entry.path());
  for (const fs::path& file : files) {
    if (IsModelFile(file.filename().string())) fs::remove(file, error);
  }
  return rmdir(folder.c_str()) == 0;
}

}  // namespace

Status CheckDestination(const fs::path& out, std::span<const fs::path> inputs, bool force) {
  GPT2_ASSIGN(const fs::path path, NameOfFolder(out));
  std::error_code error;
  const fs::file_type type = fs::symlink_status(path, error).type();
  if (type == fs::file_type::none) {
    return Error{ErrorCode::kIo, "cannot write " + path.string() + ": " + error.message()};
  }
  if (type != fs::file_type::not_found) {
    if (type != fs::file_type::directory) return Refuse(path, std::string("is a ") + KindOf(type));
    if (!force && !IsOneOf(inputs, path)) return AlreadyThere(path);
    const auto folder = Folder::Open(path);
    if (Status status = CheckReplaceable(path, inputs); !status.ok()) {
      if (!folder.ok() || folder.value().IsAt(path)) return status;
      return CheckDestination(path, inputs, force);  // another run has replaced it meanwhile
    }
  }
  // The nearest existing folder must be writable.
  fs::path parent = ParentOf(path);
  while (access(parent.c_str(), F_OK) != 0 && parent.has_relative_path()) parent = ParentOf(parent);
  if (access((parent / ".").c_str(), W_OK | X_OK) != 0) return FileError("write into", parent);
  return Done{};
}

Result<OutputFolder> OutputFolder::Make(const fs::path& out) {
  GPT2_ASSIGN(fs::path path, NameOfFolder(out));
  const fs::path parent = ParentOf(path);
  std::error_code error;
  fs::create_directories(parent, error);
  if (error) {
    return Error{ErrorCode::kIo, "cannot create " + parent.string() + ": " + error.message()};
  }
  char suffix[sizeof ".partial-" + 8];
  std::snprintf(suffix, sizeof suffix, ".partial-%08x",
                static_cast<unsigned>(std::random_device()()));
  const fs::path name = path.string() + suffix;
  constexpr mode_t kOpenToAll = 0777;  // less the umask
  if (mkdir(name.c_str(), kOpenToAll) != 0) return FileError("create", name);
  GPT2_ASSIGN(Folder folder, Folder::Open(name));
  return OutputFolder(std::move(path), std::move(folder));
}

OutputFolder::~OutputFolder() {
  if (folder_) RemoveModel(folder_->path());
}

Result<std::vector<std::string>> OutputFolder::Commit(std::span<const fs::path> inputs,
                                                      bool force) {
  GPT2_TRY(SyncFolder(*folder_));
  GPT2_ASSIGN(const Folder parent, Folder::Open(ParentOf(out_)));
  const fs::path fresh = path();
  std::vector<std::string> notes;
  // A folder takes a free name, or the name of an empty folder (POSIX).
  const bool is_free = rename(fresh.c_str(), out_.c_str()) == 0;
  if (!is_free) {
    if (errno != EEXIST && errno != ENOTEMPTY) return FileError("create", out_);
    if (!force) return AlreadyThere(out_);
    GPT2_TRY(ExchangeNames(fresh, out_));
    // Checked again, because the work may have taken hours. Nobody else changes the folder now.
    const Status status = CheckReplaceable(fresh, inputs);
    if (!status.ok()) {
      GPT2_TRY(ExchangeNames(fresh, out_));
      return status.error();
    }
  }
  folder_.reset();
  GPT2_TRY(SyncFolder(parent));
  if (!is_free && !RemoveModel(fresh)) {
    notes.push_back(fresh.string() +
                    " is the replaced model, which could not be removed: " + SystemReason());
  }
  return notes;
}

}  // namespace gpt2::tools
