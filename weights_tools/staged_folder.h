// A folder that is written beside its destination, and moved there in one step.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weights_tools/destination.h"
#include "weights_tools/files.h"

namespace gpt2::tools {

// How an existing folder is replaced. An exchange of names never leaves the destination empty. If
// the file system cannot exchange names, the old folder is moved aside first.
enum class Replacement { kExchangeIfPossible, kMoveAside };

// "<out>.partial-<8 hexadecimal digits>" in the parent of `out`. A missing parent is created.
// Removed with its files, unless committed. Locked (flock) while in use; an unlocked one was left
// by a killed run.
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

  // Puts the folder, whose files are all closed, in its place. An existing folder is replaced only
  // with `force` and if CheckReplaceable allows it, which is checked again at the moment of the
  // exchange. It is removed once the new folder is on the disk.
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
