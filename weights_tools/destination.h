// Where a model folder is to be, and what may be replaced there.
#pragma once

#include <sys/stat.h>

#include <set>
#include <span>
#include <string>
#include <utility>

#include "weights_tools/files.h"

namespace gpt2::tools {

// Files and folders by what they are, whatever paths lead to them: symbolic and hard links, "..",
// bind mounts.
class Identities {
 public:
  // The current folder and `inputs`, with all files that are in those; what cannot be found is left
  // out.
  static Identities OfInputs(std::span<const fs::path> inputs);

  bool Contains(const struct stat& file) const {
    return known_.contains({file.st_dev, file.st_ino});
  }

 private:
  void AddPath(const fs::path& path);
  void AddFile(const fs::path& path);  // unless it is something else

  std::set<std::pair<dev_t, ino_t>> known_;
};

// "parent/name", where the folder `name` is to be.
struct Destination {
  fs::path path;
  fs::path parent;
  std::string name;

  // "/", "." and ".." at the end name no folder that could be made.
  static Result<Destination> Of(const fs::path& path);
};

// Whether `folder` may be replaced. It must be empty, or hold the files of one model and no other
// files (config.json, weights and vocabulary under the names that FORMAT.md gives). Neither it nor
// any of its files may be one of `inputs`. The error says what was found instead.
Status CheckReplaceable(const Folder& folder, const Identities& inputs);

// Fails if a model could not take its place at `destination` as things are now. With `force` a
// model folder may be there.
Status CheckDestination(const Destination& destination, const Identities& inputs, bool force);

// The error where something is at `path` and may not be replaced.
Error AlreadyThere(const fs::path& path);

}  // namespace gpt2::tools
