// A folder that is written beside its destination and takes its place in one step.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weights_tools/destination.h"
#include "weights_tools/files.h"

namespace gpt2::tools {

// How a folder that is there is replaced: by an exchange of names, which never leaves the
// destination empty, or, where the file system has none, by moving it aside first.
enum class Replacement { kExchangeIfPossible, kMoveAside };

// "<out>.partial-<8 hexadecimal digits>" in the parent of `out`, which is made if it is missing.
// Removed, with what was created in it, unless committed. Locked (flock) while in use: one that is
// not was left behind when a run was killed.
class StagedFolder {
 public:
  static Result<StagedFolder> Make(Destination destination);
  ~StagedFolder();
  StagedFolder(StagedFolder&& other) noexcept;
  StagedFolder& operator=(StagedFolder&&) = delete;

  const Folder& folder() const { return *folder_; }

  // A new file in it.
  Result<OutputFile> Create(const std::string& name);

  // What remains beside the destination after a commit, and why; nothing if all went well.
  using Leftovers = std::vector<std::string>;

  // Puts the folder, whose files are all closed, in its place. What is there is replaced only with
  // `force` and if CheckReplaceable allows it, also at the very moment in which it is replaced: it
  // is removed once the new one is on the disk.
  Result<Leftovers> Commit(bool force, const Identities& inputs,
                           Replacement replacement = Replacement::kExchangeIfPossible);

 private:
  StagedFolder(Destination destination, std::vector<fs::path> made_parents)
      : destination_(std::move(destination)), made_parents_(std::move(made_parents)) {}

  Result<Leftovers> Replace(const Identities& inputs, Replacement replacement);

  Destination destination_;
  std::vector<fs::path> made_parents_;  // innermost first
  std::optional<Folder> parent_;
  std::string name_;  // in parent_; empty: committed, or not made
  std::optional<Folder> folder_;
  std::vector<std::string> files_;  // created
};

}  // namespace gpt2::tools
