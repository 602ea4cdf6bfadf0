#include "engine/convert/torch_stream.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/base/aligned_buffer.h"
#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/convert/little_endian.h"
#include "engine/convert/torch_file.h"
#include "engine/convert/torch_tensors.h"
#include "engine/convert/zip_directory.h"
#include "engine/format/json_writer.h"
#include "engine/format/safetensors.h"
#include "engine/format/weight_plan.h"
#include "engine/text/quoted.h"

namespace gpt2 {
namespace {

constexpr std::size_t kHeldPortion = std::size_t{1}
                                     << 18;  // bytes of held values that are returned at a time
// Limit for values that are held; the largest matrix of GPT-2 1.5B takes 322 MB.
constexpr std::uint64_t kMostHeldBytes = std::uint64_t{512} << 20;
// A head that shares the embedding's values at most doubles the size of a model.
constexpr std::uint64_t kMostTimes = 2;

// The head that is the embedding; null if there is none.
const TorchTensor* TiedHead(const std::vector<TorchTensor>& tensors) {
  const TorchTensor* head = nullptr;
  const TorchTensor* embedding = nullptr;
  for (const TorchTensor& tensor : tensors) {
    const std::string name = CanonicalName(tensor.name);
    if (name == "lm_head.weight") head = &tensor;
    if (name == "wte.weight") embedding = &tensor;
  }
  const bool is_tied = head != nullptr && embedding != nullptr && head->IsSameViewAs(*embedding);
  return is_tied ? head : nullptr;
}

}  // namespace

Result<TorchStream> TorchStream::Create(std::vector<TorchFile> files, bool is_tied) {
  TorchStream stream;
  for (TorchFile& file : files) GPT2_TRY(stream.Plan(std::move(file), is_tied));
  return stream;
}

Status TorchStream::Plan(TorchFile file, bool is_tied) {
  const std::vector<TorchStorage>& storages = file.content().storages;
  const std::vector<TorchTensor>& tensors = file.content().tensors;
  const TorchTensor* const left_out = is_tied ? TiedHead(tensors) : nullptr;
  std::vector<std::size_t> order = SortedIndices(tensors.size(), [&](std::size_t first,
                                                                     std::size_t second) {
    const TorchTensor &a = tensors[first], &b = tensors[second];
    return std::tie(a.storage, a.begin, a.end, first) < std::tie(b.storage, b.begin, b.end, second);
  });
  std::uint64_t most = 0;
  for (const TorchStorage& storage : storages) most += kMostTimes * storage.Bytes();
  std::string head;
  JsonWriter json(head);
  json.Open('{');
  std::uint64_t size = 0;
  std::vector<Region> regions;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const TorchTensor& tensor = tensors[order[i]];
    if (&tensor == left_out) {
      order.erase(order.begin() + static_cast<std::ptrdiff_t>(i--));
      continue;
    }
    const TorchType& type = *storages[tensor.storage].type;
    json.Key(tensor.name).Open('{').Member("dtype", type.safetensors).Key("shape").Open('[');
    for (const std::uint64_t side : tensor.shape) json.Value(side);
    json.Close(']').Key("data_offsets").Open('[').Value(size);
    size += tensor.values * type.bytes;
    json.Value(size).Close(']').Close('}');
    if (size > most) {
      return file.Named(
          {ErrorCode::kUnsupported, Concat("its tensors together are more than ", kMostTimes,
                                           " times as large as their storages")});
    }
    if (tensor.values == 0) continue;
    const std::uint64_t begin = tensor.begin * type.bytes, end = tensor.end * type.bytes;
    const bool is_apart =
        regions.empty() || regions.back().storage != tensor.storage || begin >= regions.back().end;
    if (is_apart) regions.push_back({tensor.storage, begin, end, i, 0, !tensor.IsContiguous()});
    Region& region = regions.back();
    region.end = std::max(region.end, end);
    region.count = i + 1 - region.first;
    region.is_held = region.is_held || region.count > 1;
    const std::uint64_t bytes = region.end - region.begin;
    if (!region.is_held || bytes <= kMostHeldBytes) continue;
    return file.Named(
        {ErrorCode::kUnsupported,
         Concat("tensor ", Quoted(tensor.name), " is a view of ", bytes,
                " bytes, which have to be kept in memory, expected at most ", kMostHeldBytes)});
  }
  json.Close('}');
  for (std::size_t i = 0; i < kSafetensorsPrefix; ++i) {
    heads_ += static_cast<char>(static_cast<std::uint64_t>(head.size()) >> (8 * i) & 0xff);
  }
  heads_ += head;
  sources_.push_back({.file = std::move(file),
                      .head_size = kSafetensorsPrefix + head.size(),
                      .order = std::move(order),
                      .regions = std::move(regions)});
  return Done{};
}

Result<std::span<const std::byte>> TorchStream::Take(std::span<const std::byte>& bytes) {
  auto next = Next(bytes);
  if (next.ok() || next.error().code == ErrorCode::kOutOfMemory) return next;
  return source().file.Named(next.error());
}

Result<std::span<const std::byte>> TorchStream::Next(std::span<const std::byte>& bytes) {
  while (true) {
    if (held_.size() > 0 && held_size_ == held_.size()) return GiveHeld();
    GPT2_TRY(CheckStorage());
    if (bytes.empty()) return std::span<const std::byte>();
    if (!std::exchange(has_head_, true)) {
      const std::size_t begin = std::exchange(heads_given_, heads_given_ + source().head_size);
      return std::as_bytes(std::span(heads_)).subspan(begin, source().head_size);
    }
    if (region_ == source().regions.size()) {
      Skip(source().file.end(), bytes);
      if (bytes.empty()) continue;
      if (current_ + 1 == sources_.size()) {
        return Error{ErrorCode::kCorrupt, Concat(bytes.size(), " bytes follow its end")};
      }
      ++current_;
      has_head_ = has_data_ = false;
      at_ = region_ = 0;
    } else if (at_ < storage().begin) {
      Skip(storage().begin, bytes);
    } else if (!has_data_) {
      GPT2_TRY(TakeStorageHead(bytes));
    } else if (at_ < data_ + region().begin) {
      Skip(data_ + region().begin, bytes);
    } else {
      GPT2_ASSIGN(const auto out, TakeRegion(bytes));
      if (!out.empty()) return out;
    }
  }
}

// Skips up to byte `end` of the file.
void TorchStream::Skip(std::uint64_t end, std::span<const std::byte>& bytes) {
  const std::uint64_t count = std::min<std::uint64_t>(end - std::min(end, at_), bytes.size());
  if (checked_ != nullptr && at_ + count > data_) {
    const auto before = static_cast<std::size_t>(data_ - std::min(data_, at_));
    const std::uint64_t checked = std::min(count, checked_end_ - at_);
    crc_.Update(bytes.first(static_cast<std::size_t>(checked)).subspan(before));
  }
  at_ += count;
  bytes = bytes.subspan(static_cast<std::size_t>(count));
}

// Compares the checksum of a storage once all of its bytes have passed.
Status TorchStream::CheckStorage() {
  if (checked_ == nullptr || at_ < checked_end_) return Done{};
  const TorchStorage& storage = *std::exchange(checked_, nullptr);
  return CheckCrc(source().file.EntryName(storage), storage.crc, crc_);
}

// Reads the bytes before the values of a storage.
Status TorchStream::TakeStorageHead(std::span<const std::byte>& bytes) {
  const TorchFile& file = source().file;
  const std::string name = file.is_zip() ? file.EntryName(storage()) : std::string();
  const std::size_t wanted = file.is_zip() ? kZipLocalHead + name.size() : kTorchCountBytes;
  const std::size_t take = std::min(wanted - pending_.size(), bytes.size());
  pending_.append(reinterpret_cast<const char*>(bytes.data()), take);
  Skip(at_ + take, bytes);
  if (pending_.size() < wanted) return Done{};
  const std::string head = std::exchange(pending_, {});
  std::size_t before = kTorchCountBytes;
  if (file.is_zip()) {
    GPT2_ASSIGN(before, ReadZipLocalHead(head, name));
  } else if (WholeOf(head) != storage().values) {
    return Error{ErrorCode::kCorrupt,
                 Concat("its storage ", Quoted(storage().key), " has ", WholeOf(head),
                        " values, its tensors need ", storage().values)};
  }
  data_ = storage().begin + before;
  has_data_ = true;
  if (storage().crc != 0) {
    checked_ = &storage();
    checked_end_ = data_ + storage().Bytes();
    crc_ = {};
  }
  const std::vector<TorchStorage>& storages = file.content().storages;
  const std::size_t next = region().storage + 1;
  const std::uint64_t most = next < storages.size() ? storages[next].begin : file.end();
  if (most >= data_ && storage().Bytes() <= most - data_) return Done{};
  return Error{ErrorCode::kCorrupt,
               Concat("its storage ", Quoted(storage().key), " overlaps the next one")};
}

Result<std::span<const std::byte>> TorchStream::TakeRegion(std::span<const std::byte>& bytes) {
  const std::uint64_t end = data_ + region().end;
  const auto take = static_cast<std::size_t>(std::min<std::uint64_t>(end - at_, bytes.size()));
  const std::span<const std::byte> taken = bytes.first(take);
  Skip(at_ + take, bytes);
  if (!region().is_held) {
    if (at_ == end) NextRegion();
    return taken;
  }
  if (held_.size() == 0) {
    GPT2_ASSIGN(held_, AlignedBuffer<std::byte>::CreateUnset(
                           static_cast<std::size_t>(region().end - region().begin),
                           source().Tensor(region().first).name.c_str()));
  }
  std::memcpy(held_.data() + held_size_, taken.data(), take);
  held_size_ += take;
  return std::span<const std::byte>();
}

// The next values of the region's tensors, all of whose bytes are held.
std::span<const std::byte> TorchStream::GiveHeld() {
  out_.clear();
  const std::size_t size = storage().type->bytes;
  while (out_.size() < kHeldPortion && given_tensors_ < region().count) {
    const TorchTensor& tensor = source().Tensor(region().first + given_tensors_);
    if (tensor.values == 0) {
      ++given_tensors_;
      continue;
    }
    place_.resize(tensor.shape.size());
    std::uint64_t value = tensor.begin;
    for (std::size_t i = 0; i < place_.size(); ++i) value += place_[i] * tensor.strides[i];
    const std::byte* const from = held_.data() + (value * size - region().begin);
    out_.append(reinterpret_cast<const char*>(from), size);
    // Moves to the next place: the last dimension changes fastest.
    std::size_t i = place_.size();
    while (i > 0 && ++place_[i - 1] == tensor.shape[i - 1]) place_[--i] = 0;
    if (i > 0) continue;
    place_.clear();
    ++given_tensors_;
  }
  if (given_tensors_ == region().count) NextRegion();
  return std::as_bytes(std::span(out_));
}

void TorchStream::NextRegion() {
  const std::size_t storage = region().storage;
  held_ = {};
  held_size_ = 0;
  given_tensors_ = 0;
  ++region_;
  if (region_ < source().regions.size() && region().storage != storage) has_data_ = false;
}

}  // namespace gpt2
