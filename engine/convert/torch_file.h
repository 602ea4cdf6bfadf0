// Locates the tensors in a file of torch.save, such as the Hub's pytorch_model.bin. For that, it
// needs only a few parts of the file: it names each part, and the caller passes it in. Supports
// both of PyTorch's forms: a zip archive (since 1.6), and consecutive pickles followed by the
// storages.
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

// The size in bytes of the number that precedes a storage in the older form: its count of values.
inline constexpr std::size_t kTorchCountBytes = 8;

// Not thread-safe.
class TorchFile {
 public:
  struct Range {
    std::uint64_t begin;
    std::uint64_t size;  // bytes
  };

  // `name` is for messages. `size` is in bytes, if known: a zip archive cannot be read without it.
  TorchFile(std::string name, std::optional<std::uint64_t> size);

  // The part of the file that is needed next; nothing when everything is known.
  const std::optional<Range>& wanted() const { return wanted_; }

  // Takes the requested part, which may be shorter only at the end of the file. An error names the
  // file, and ends the search.
  Status Give(std::string_view bytes);

  const std::string& name() const { return name_; }

  // Call the following functions only when no part is wanted.

  bool is_zip() const { return is_zip_; }
  // The end of the file in bytes, or of its last storage.
  std::uint64_t end() const { return end_; }
  // The storages in the order of the file.
  const TorchTensors& content() const { return content_; }
  // The name of a storage's entry in a zip archive.
  std::string EntryName(const TorchStorage& storage) const;

  // `error`, prefixed with the name of the file.
  Error Named(const Error& error) const;

 private:
  struct Part {
    std::uint64_t begin;
    std::string bytes;
  };

  // Each of these functions starts again when another part has arrived, and returns early if a part
  // is missing.
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
  bool is_cut_ = false;      // parts_[0] ends at the end of the file
  std::vector<Part> parts_;  // the first begins at 0 and grows; empty when everything is known
  bool is_zip_ = false;
  std::uint64_t end_ = 0;
  std::string folder_;  // in the zip archive: the common prefix of all names
  TorchTensors content_;
};

}  // namespace gpt2
