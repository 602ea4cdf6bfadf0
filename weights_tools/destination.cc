#include "weights_tools/destination.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <span>
#include <string>
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

const char* KindOf(const struct stat& found) {
  if (S_ISDIR(found.st_mode)) return "folder";
  if (S_ISLNK(found.st_mode)) return "symbolic link";
  if (S_ISREG(found.st_mode)) return "file";
  return "special file";
}

}  // namespace

void Identities::AddPath(const fs::path& path) {
  struct stat found{};
  if (stat(path.c_str(), &found) == 0) known_.emplace(found.st_dev, found.st_ino);
}

void Identities::AddFile(const fs::path& path) {
  struct stat found{};
  if (stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode)) AddPath(path);
}

Identities Identities::OfInputs(std::span<const fs::path> inputs) {
  Identities all;
  all.AddPath(".");
  for (const fs::path& input : inputs) {
    all.AddPath(input);
    const auto folder = Folder::Open(input);
    if (!folder.ok()) continue;
    const auto names = folder.value().Entries();
    if (!names.ok()) continue;
    for (const std::string& name : names.value()) all.AddFile(input / name);
  }
  return all;
}

Result<Destination> Destination::Of(const fs::path& path) {
  std::string text = path.string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();  // "out/" is "out"
  const fs::path plain(text);
  const std::string name = plain.filename().string();
  if (name.empty() || name == "." || name == "..") {
    return Error{ErrorCode::kInvalidArgument,
                 "OUT is " + path.string() + ", expected the name of a new folder"};
  }
  return Destination{plain, plain.has_parent_path() ? plain.parent_path() : fs::path("."), name};
}

Status CheckReplaceable(const Folder& folder, const Identities& inputs) {
  struct stat found{};
  if (fstat(folder.descriptor(), &found) != 0) return FileError("read", folder.path());
  if (inputs.Contains(found)) {
    return Refuse(folder.path(), "is the input or the current folder");
  }
  GPT2_ASSIGN(const std::vector<std::string> names, folder.Entries());
  bool has_weights = false;
  for (const std::string& name : names) {
    if (fstatat(folder.descriptor(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
      return FileError("read", folder.path() / name);
    }
    if (!S_ISREG(found.st_mode) || !IsModelFile(name)) {
      return Refuse(folder.path(), std::string("has the ") + KindOf(found) + " \"" + name +
                                       "\", which does not belong to a model");
    }
    if (inputs.Contains(found)) {
      return Refuse(folder.path(), "has the file \"" + name + "\", which belongs to the input");
    }
    has_weights |= name == kWeightsFile || IsPieceName(name);
  }
  const bool has_config = std::find(names.begin(), names.end(), kConfigFile) != names.end();
  if (names.empty() || (has_config && has_weights)) return Done{};
  return Refuse(folder.path(), std::string("has no ") + (has_config ? "weights" : kConfigFile));
}

Status CheckDestination(const Destination& destination, const Identities& inputs, bool force) {
  struct stat found{};
  const fs::path& path = destination.path;
  if (lstat(path.c_str(), &found) != 0) {
    if (errno != ENOENT) return FileError("write", path);
    // The nearest existing folder must be writable for the missing ones.
    fs::path parent = destination.parent;
    while (access(parent.c_str(), F_OK) != 0 && parent.has_relative_path()) {
      parent = parent.has_parent_path() ? parent.parent_path() : fs::path(".");
    }
    if (access(parent.c_str(), W_OK | X_OK) != 0) return FileError("write into", parent);
    return Done{};
  }
  if (!S_ISDIR(found.st_mode)) return Refuse(path, std::string("is a ") + KindOf(found));
  if (!force && !inputs.Contains(found)) return AlreadyThere(path);
  if (access(destination.parent.c_str(), W_OK | X_OK) != 0) {
    return FileError("write into", destination.parent);
  }
  const auto folder = Folder::Open(path);
  Status status = folder.ok() ? CheckReplaceable(folder.value(), inputs) : folder.error();
  const bool is_gone = folder.ok() ? !folder.value().IsAt(path) : errno == ENOENT;
  // Another run may have replaced it, and removed its files, during the check.
  if (!status.ok() && is_gone) return CheckDestination(destination, inputs, force);
  return status;
}

Error AlreadyThere(const fs::path& path) {
  return Error{ErrorCode::kInvalidArgument, path.string() + " already exists: --force replaces it"};
}

}  // namespace gpt2::tools
