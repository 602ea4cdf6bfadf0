// A file that torch.save has written, pytorch_model.bin of the hub: where it has which tensor. Of
// the file only a few parts are read for that, wherever they lie; the caller, which has the file,
// passes them in. Both of PyTorch's forms: a zip archive (since 1.6), and pickles in a row with the
// storages after them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/convert/pickle.h"
#include "engine/convert/torch_tensors.h"

namespace gpt2 {

// Before a storage of the older form: how many values it has.
inline constexpr std::size_t kTorchCountBytes = 8;

// Not thread-safe.
class TorchFile {
 public:
  struct Range {
    std::uint64_t begin;
    std::uint64_t size;  // bytes
  };

  // `name` is for messages. `size` in bytes, where it is known: without it, no zip archive is read.
  TorchFile(std::string name, std::optional<std::uint64_t> size);

  // The part of the file that is needed next; nothing once all is known.
  const std::optional<Range>& wanted() const { return wanted_; }

  // Takes the part that is wanted: less of it only at the end of the file. An error names the file,
  // and ends it.
  Status Give(std::string_view bytes);

  const std::string& name() const { return name_; }

  // The rest once nothing is wanted.

  bool is_zip() const { return is_zip_; }
  // Where the file ends, or where the last of its storages does.
  std::uint64_t end() const { return end_; }
  // The storages in the order in which the file has them.
  const TorchTensors& content() const { return content_; }
  // Of a zip archive: what it calls a storage.
  std::string EntryName(const TorchStorage& storage) const;

  // `error`, with the name of the file before it.
  Error Named(const Error& error) const;

 private:
  struct Part {
    std::uint64_t begin;
    std::string bytes;
  };

  // Each of these starts anew when another part has come, and returns early where one is missing.
  Status Read();
  Status ReadZip();
  Status ReadPickles();
  Status PlaceStorages(const Pickle& keys, std::uint64_t begin);

  void SortStorages();
  std::optional<std::string_view> Find(std::uint64_t begin, std::uint64_t size);
  std::optional<std::string_view> Missing(Range range);
  Result<std::optional<std::string_view>> FindEntry(std::uint64_t begin, std::string_view name,
                                                    std::uint64_t size);

  std::string name_;
  std::optional<std::uint64_t> size_;
  std::optional<Range> wanted_;
  bool is_cut_ = false;      // parts_[0] ends where the file does
  std::vector<Part> parts_;  // the first begins at 0 and grows; empty once all is known
  bool is_zip_ = false;
  std::uint64_t end_ = 0;
  std::string folder_;  // of the zip archive: what all its names begin with
  TorchTensors content_;
};

}  // namespace gpt2
