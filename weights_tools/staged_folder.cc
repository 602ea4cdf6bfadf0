#include "weights_tools/staged_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "weights_tools/destination.h"
#include "weights_tools/files.h"
#include "weights_tools/interruption.h"
#include "weights_tools/model_folder.h"

namespace gpt2::tools {
namespace {

constexpr int kAttempts = 100;  // to find a free name, or to replace a folder that keeps changing
// A run locks its folder right after it makes it, but may wait for the processor in between.
constexpr std::chrono::milliseconds kBetweenLooks{200};
constexpr char kPartial[] = ".partial-";  // written, or to be removed
constexpr char kOld[] = ".old-";          // moved aside
constexpr std::size_t kDigits = 8;

// Makes a folder "<name><infix><digits>" in `parent` that was not there, and returns its name.
Result<std::string> MakeFolder(const Folder& parent, const Destination& destination,
                               const char* infix) {
  std::random_device random;
  constexpr mode_t kOpenToAll = 0777;  // less the umask
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    char digits[kDigits + 1];
    std::snprintf(digits, sizeof digits, "%08x", static_cast<unsigned>(random()));
    const std::string name = destination.name + infix + digits;
    if (mkdirat(parent.descriptor(), name.c_str(), kOpenToAll) == 0) return name;
    if (errno != EEXIST) return FileError("create", parent.path() / name);
  }
  return FileError("create", parent.path() / (destination.name + infix));
}

// Gives the folder `from` the name `to`, in the same parent, if nothing has that name yet. Returns
// false and sets errno on failure.
bool MoveToFreeName(const Folder& parent, const char* from, const char* to) {
#ifdef RENAME_NOREPLACE
  if (renameat2(parent.descriptor(), from, parent.descriptor(), to, RENAME_NOREPLACE) == 0)
    return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
#endif
  // rename gives a folder only a free name, or the name of an empty folder (POSIX).
  if (faccessat(parent.descriptor(), to, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
    errno = EEXIST;
    return false;
  }
  return renameat(parent.descriptor(), from, parent.descriptor(), to) == 0;
}

// Exchanges two names in one step. Returns false and sets errno on failure.
bool ExchangeNames(const Folder& parent, const char* a, const char* b) {
#ifdef RENAME_EXCHANGE
  return renameat2(parent.descriptor(), a, parent.descriptor(), b, RENAME_EXCHANGE) == 0;
#else
  errno = ENOSYS;
  return false;
#endif
}

// The folder that was at the destination, under another name now.
struct Displaced {
  std::string name;
  bool is_exchanged;  // `name` is the new folder's former name
};

// Replaces `destination` by the folder `fresh`.
Result<Displaced> Displace(const Folder& parent, const std::string& fresh,
                           const Destination& destination, Replacement replacement) {
  const char* out = destination.name.c_str();
  if (replacement == Replacement::kExchangeIfPossible) {
    if (ExchangeNames(parent, fresh.c_str(), out)) return Displaced{fresh, true};
    if (errno != EINVAL && errno != ENOSYS) return FileError("replace", destination.path);
  }
  GPT2_ASSIGN(const std::string aside, MakeFolder(parent, destination, kOld));
  // Replaces the empty folder.
  if (renameat(parent.descriptor(), out, parent.descriptor(), aside.c_str()) != 0) {
    const Error error = FileError("replace", destination.path);
    unlinkat(parent.descriptor(), aside.c_str(), AT_REMOVEDIR);
    return error;
  }
  if (MoveToFreeName(parent, fresh.c_str(), out)) return Displaced{aside, false};
  const Error error = FileError("replace", destination.path);
  if (MoveToFreeName(parent, aside.c_str(), out)) return error;
  return Error{error.code,
               error.message + "; the old folder is now " + (parent.path() / aside).string()};
}

// Undoes Displace. Returns false on failure.
bool PutBack(const Folder& parent, const std::string& fresh, const Destination& destination,
             const Displaced& displaced) {
  const char* out = destination.name.c_str();
  if (displaced.is_exchanged) return ExchangeNames(parent, fresh.c_str(), out);
  return MoveToFreeName(parent, out, fresh.c_str()) &&
         MoveToFreeName(parent, displaced.name.c_str(), out);
}

// Removes the files `names` of a folder, and then the folder. It stays if it has other files.
bool RemoveFolder(const Folder& parent, const std::string& name, const Folder& folder,
                  const std::vector<std::string>& names) {
  for (const std::string& file : names) unlinkat(folder.descriptor(), file.c_str(), 0);
  return unlinkat(parent.descriptor(), name.c_str(), AT_REMOVEDIR) == 0;
}

bool IsStagedName(const std::string& entry, const std::string& name) {
  for (const std::string infix : {kPartial, kOld}) {
    const std::string start = name + infix;
    if (entry.starts_with(start) && entry.size() == start.size() + kDigits &&
        entry.find_first_not_of("0123456789abcdef", start.size()) == std::string::npos) {
      return true;
    }
  }
  return false;
}

bool IsUnlocked(const Folder& parent, const std::string& entry) {
  const auto folder = parent.OpenInside(entry);
  return folder.ok() && flock(folder.value().descriptor(), LOCK_SH | LOCK_NB) == 0;
}

// Folders that killed runs have left beside `destination`: no process holds their locks.
StagedFolder::Leftovers FindLeftovers(const Folder& parent, const Destination& destination) {
  StagedFolder::Leftovers found;
  const auto entries = parent.Entries();
  if (!entries.ok()) return found;
  bool has_waited = false;
  for (const std::string& entry : entries.value()) {
    if (!IsStagedName(entry, destination.name) || !IsUnlocked(parent, entry)) continue;
    // Another run may have just made it, and not locked it yet.
    if (!std::exchange(has_waited, true)) std::this_thread::sleep_for(kBetweenLooks);
    if (!IsUnlocked(parent, entry)) continue;
    found.push_back("a killed run left " + (parent.path() / entry).string() +
                    " behind: remove it if you do not need it");
  }
  return found;
}

// Opens the folder `name` and locks it. Other runs that replace it wait, so that none reports the
// folder that this run displaces as a leftover. It stays unlocked if the file system has no locks,
// or if another program keeps one.
Result<Folder> OpenLocked(const Folder& parent, const std::string& name) {
  for (int attempt = 0;; ++attempt) {
    GPT2_ASSIGN(Folder folder, parent.OpenInside(name));
    const bool is_busy = flock(folder.descriptor(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (attempt == kAttempts || (!is_busy && folder.IsAt(parent.path() / name))) return folder;
    if (Interruption::is_wanted()) return Error{ErrorCode::kIo, "interrupted"};
    std::this_thread::sleep_for(std::chrono::milliseconds(is_busy ? 50 : 0));
  }
}

}  // namespace

Result<StagedFolder> StagedFolder::Make(Destination destination) {
  std::vector<fs::path> missing;
  std::error_code error;
  for (fs::path path = destination.parent; !path.empty() && !fs::exists(path, error);
       path = path.parent_path()) {
    missing.push_back(path);
  }
  const fs::path parent = destination.parent;
  fs::create_directories(parent, error);
  if (error) {
    return Error{ErrorCode::kIo, "cannot create " + parent.string() + ": " + error.message()};
  }
  StagedFolder staged(std::move(destination), std::move(missing));
  GPT2_ASSIGN(staged.parent_, Folder::Open(parent));
  GPT2_ASSIGN(staged.name_, MakeFolder(*staged.parent_, staged.destination_, kPartial));
  GPT2_ASSIGN(staged.folder_, staged.parent_->OpenInside(staged.name_));
  flock(staged.folder_->descriptor(), LOCK_EX);  // other runs lock it only briefly
  return staged;
}

StagedFolder::StagedFolder(StagedFolder&& other) noexcept
    : destination_(std::move(other.destination_)),
      made_parents_(std::exchange(other.made_parents_, {})),
      parent_(std::move(other.parent_)),
      name_(std::exchange(other.name_, {})),
      folder_(std::move(other.folder_)),
      files_(std::move(other.files_)) {}

StagedFolder::~StagedFolder() {
  if (!name_.empty() && folder_) RemoveFolder(*parent_, name_, *folder_, files_);
  // rmdir keeps those that are no longer empty.
  for (const fs::path& path : made_parents_) rmdir(path.c_str());
}

Result<OutputFile> StagedFolder::Create(const std::string& name) {
  GPT2_ASSIGN(OutputFile file, OutputFile::Create(*folder_, name));
  files_.push_back(name);
  return file;
}

Result<StagedFolder::Leftovers> StagedFolder::Commit(bool force, const Identities& inputs,
                                                     Replacement replacement) {
  GPT2_TRY(SyncFolder(folder_->descriptor(), folder_->path()));
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (MoveToFreeName(*parent_, name_.c_str(), destination_.name.c_str())) {
      name_.clear();
      GPT2_TRY(SyncFolder(parent_->descriptor(), destination_.parent));
      return FindLeftovers(*parent_, destination_);
    }
    if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR) {
      return FileError("create", destination_.path);
    }
    GPT2_TRY(CheckDestination(destination_, inputs, force));
    auto replaced = Replace(inputs, replacement);
    // The folder at the destination has disappeared in the meantime: try again.
    if (!replaced.ok() && replaced.error().code == ErrorCode::kNotFound) continue;
    return replaced;
  }
  return Error{ErrorCode::kIo, "another program repeatedly creates and removes " +
                                   destination_.path.string() + ": end it, or choose another OUT"};
}

Result<StagedFolder::Leftovers> StagedFolder::Replace(const Identities& inputs,
                                                      Replacement replacement) {
  const Folder& parent = *parent_;
  GPT2_ASSIGN(const Folder locked, OpenLocked(parent, destination_.name));
  GPT2_ASSIGN(const Displaced displaced, Displace(parent, name_, destination_, replacement));
  // Checked again: the folder may differ from the one that CheckDestination saw.
  const fs::path path = parent.path() / displaced.name;
  const auto old = parent.OpenInside(displaced.name);
  const Status is_replaceable = old.ok() ? CheckReplaceable(old.value(), inputs) : old.error();
  if (!is_replaceable.ok()) {
    if (PutBack(parent, name_, destination_, displaced)) return is_replaceable.error();
    name_.clear();
    return Error{ErrorCode::kIo,
                 is_replaceable.error().message + "; the folder is now " + path.string()};
  }
  name_.clear();
  GPT2_TRY(SyncFolder(parent.descriptor(), parent.path()));
  GPT2_ASSIGN(std::vector<std::string> names, old.value().Entries());
  std::erase_if(names, [](const std::string& name) { return !IsModelFile(name); });
  Leftovers leftovers = FindLeftovers(*parent_, destination_);
  if (!RemoveFolder(parent, displaced.name, old.value(), names)) {
    leftovers.push_back(path.string() +
                        " is the replaced model, which could not be removed: " + SystemReason());
  }
  return leftovers;
}

}  // namespace gpt2::tools
