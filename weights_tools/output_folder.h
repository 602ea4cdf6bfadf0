// A model folder that is written beside its destination, and renamed to it once it is complete.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "weights_tools/files.h"

namespace gpt2::tools {

// Fails unless a model can be written to `out`, which may be an existing model folder only with
// `force`. Neither `out` nor any file in it may be one of `inputs`, or belong to such a folder.
Status CheckDestination(const fs::path& out, std::span<const fs::path> inputs, bool force);

// "<out>.partial-<8 hexadecimal digits>". Removed with its files, unless committed. A killed run
// leaves it behind.
class OutputFolder {
 public:
  // Also creates the parents of `out` that are missing.
  static Result<OutputFolder> Make(const fs::path& out);
  ~OutputFolder();
  OutputFolder(OutputFolder&& other) noexcept
      : out_(std::move(other.out_)), folder_(std::exchange(other.folder_, std::nullopt)) {}
  OutputFolder& operator=(OutputFolder&&) = delete;

  const fs::path& path() const { return folder_->path(); }

  // A new file in it.
  Result<OutputFile> Create(const std::string& name) { return OutputFile::Create(*folder_, name); }

  // Renames the folder, whose files are all closed, to `out`. An existing model is replaced in one
  // step, and then removed; it must pass CheckDestination. Returns notes on what could not be
  // removed.
  Result<std::vector<std::string>> Commit(std::span<const fs::path> inputs, bool force);

 private:
  OutputFolder(fs::path out, Folder folder) : out_(std::move(out)), folder_(std::move(folder)) {}

  fs::path out_;
  std::optional<Folder> folder_;  // empty: committed, or moved from
};

}  // namespace gpt2::tools
