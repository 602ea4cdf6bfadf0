// Turns the bytes of torch.save files into those of safetensors files with the same tensors, while
// they stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/base/aligned_buffer.h"
#include "engine/base/result.h"
#include "engine/convert/torch_file.h"
#include "engine/convert/torch_tensors.h"
#include "engine/convert/zip_directory.h"

namespace gpt2 {

// Tensors are output in the order of their storages in the files. A tensor whose values are
// contiguous passes through without a copy. Views with other strides, and views of the same values,
// are held until all of their values have arrived. Not thread-safe.
class TorchStream {
 public:
  // For `files` in which all tensors are located. With `is_tied`, leaves out a head that is a view
  // of the embedding's values. Fails if views would need too much memory, or if the output would be
  // much larger than the files.
  static Result<TorchStream> Create(std::vector<TorchFile> files, bool is_tied);

  // The headers of the safetensors files, concatenated.
  const std::string& heads() const { return heads_; }

  // Consumes from the front of `bytes` and returns the output, including the headers. It is valid
  // until the next call, and while `bytes` are. Call it until the output is empty: then all of
  // `bytes` are consumed. The files follow each other, each from its first byte to its last.
  Result<std::span<const std::byte>> Take(std::span<const std::byte>& bytes);

 private:
  // Values of one storage that no other region shares.
  struct Region {
    std::size_t storage;
    std::uint64_t begin;  // bytes of the storage
    std::uint64_t end;
    std::size_t first;  // index into the source's order, of its tensors
    std::size_t count;
    bool is_held;
  };
  struct Source {
    TorchFile file;
    std::size_t head_size = 0;
    std::vector<std::size_t> order;  // the file's tensors in the order of the output
    std::vector<Region> regions;     // in the order of the file

    const TorchTensor& Tensor(std::size_t place) const {
      return file.content().tensors[order[place]];
    }
  };

  Status Plan(TorchFile file, bool is_tied);
  Result<std::span<const std::byte>> Next(std::span<const std::byte>& bytes);
  void Skip(std::uint64_t size, std::span<const std::byte>& bytes);
  Status CheckStorage();
  Status TakeStorageHead(std::span<const std::byte>& bytes);
  Result<std::span<const std::byte>> TakeRegion(std::span<const std::byte>& bytes);
  std::span<const std::byte> GiveHeld();
  void NextRegion();
  const Source& source() const { return sources_[current_]; }
  const Region& region() const { return source().regions[region_]; }
  const TorchStorage& storage() const { return source().file.content().storages[region().storage]; }

  std::vector<Source> sources_;
  std::string heads_;
  std::size_t current_ = 0;      // index into sources_
  std::size_t heads_given_ = 0;  // bytes of the headers that were returned
  bool has_head_ = false;        // whether the header of the current source was returned
  std::uint64_t at_ = 0;         // bytes of its file that have arrived
  std::size_t region_ = 0;       // index into its regions
  bool has_data_ = false;        // the region's storage starts at data_
  std::uint64_t data_ = 0;
  const TorchStorage* checked_ = nullptr;  // the storage whose bytes are in crc_
  std::uint64_t checked_end_ = 0;          // its end in the file
  Crc32 crc_;
  std::string pending_;               // the bytes before a storage that have arrived
  AlignedBuffer<std::byte> held_;     // the region's bytes
  std::uint64_t held_size_ = 0;       // bytes of it that have arrived
  std::size_t given_tensors_ = 0;     // tensors of the held region that were returned
  std::vector<std::uint64_t> place_;  // coordinates of the next value of the current tensor
  std::string out_;
};

}  // namespace gpt2
