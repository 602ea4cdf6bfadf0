// Checks where a model folder may be written, and what it may replace.
#pragma once

#include <sys/stat.h>

#include <set>
#include <span>
#include <string>
#include <utility>

#include "weights_tools/files.h"

namespace gpt2::tools {

// Identifies files and folders independent of their paths: symbolic and hard links, "..", bind
// mounts.
class Identities {
 public:
  // The current folder and `inputs`, with all files in them; missing ones are left out.
  static Identities OfInputs(std::span<const fs::path> inputs);

  bool Contains(const struct stat& file) const {
    return known_.contains({file.st_dev, file.st_ino});
  }

 private:
  void AddPath(const fs::path& path);
  void AddFile(const fs::path& path);  // unless it is another kind of entry

  std::set<std::pair<dev_t, ino_t>> known_;
};

// "parent/name", the place of the new folder `name`.
struct Destination {
  fs::path path;
  fs::path parent;
  std::string name;

  // Paths that end in "/", "." or ".." name no folder that could be created.
  static Result<Destination> Of(const fs::path& path);
};

// Whether `folder` may be replaced. It must be empty, or contain the files of one model and no
// others (config.json, weights and vocabulary under the names in FORMAT.md). Neither it nor any of
// its files may be one of `inputs`. The error states what was found instead.
Status CheckReplaceable(const Folder& folder, const Identities& inputs);

// Fails if a model could not be written to `destination` now. With `force`, a model folder may
// exist there.
Status CheckDestination(const Destination& destination, const Identities& inputs, bool force);

// The error for an existing entry at `path` that may not be replaced.
Error AlreadyThere(const fs::path& path);

}  // namespace gpt2::tools
