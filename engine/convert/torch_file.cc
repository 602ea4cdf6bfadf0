#include "engine/convert/torch_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/convert/pickle.h"
#include "engine/convert/torch_tensors.h"
#include "engine/convert/zip_directory.h"
#include "engine/text/quoted.h"

namespace gpt2 {
namespace {

// The smallest request: most pickles and lists of a GPT-2 fit into it.
constexpr std::uint64_t kLeastPart = std::uint64_t{128} << 10;
// Limit before the storages of the older form: four small pickles, and that of the state dict.
constexpr std::uint64_t kMostBeforeStorages = kMostPickleBytes + (1 << 20);
constexpr std::size_t kMostParts = 64;  // a zip archive takes five at most

// torch/serialization.py
constexpr std::string_view kPickleFile = "data.pkl";
constexpr std::string_view kMagicNumber = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
constexpr std::int64_t kProtocol = 1001;

Error BadTorch(std::string message) {
  return Error{ErrorCode::kCorrupt, std::move(message)};
}

// The third pickle: the machine that wrote the file.
Status CheckSystem(const Pickle& system) {
  const PickleValue& dict = system.Top();
  for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    const PickleValue& value = system.Item(dict, i + 1);
    if (system.Item(dict, i).text == "little_endian" && value.number == 1) return Done{};
  }
  return Error{ErrorCode::kUnsupported, "its byte order is not little-endian"};
}

}  // namespace

TorchFile::TorchFile(std::string name, std::optional<std::uint64_t> size)
    : name_(std::move(name)), size_(size), wanted_(Range{0, kLeastPart}) {
  if (size_) wanted_->size = std::min(kLeastPart, *size_);
}

Error TorchFile::Named(const Error& error) const {
  return Error{error.code, Concat(name_, ": ", error.message)};
}

std::string TorchFile::EntryName(const TorchStorage& storage) const {
  return Concat(folder_, "data/", storage.key);
}

Status TorchFile::Give(std::string_view bytes) {
  const Range range = *std::exchange(wanted_, std::nullopt);
  bytes =
      bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), range.size)));
  if (!parts_.empty() && range.begin == parts_[0].bytes.size()) {
    parts_[0].bytes += bytes;
  } else {
    parts_.push_back({range.begin, std::string(bytes)});
  }
  if (bytes.size() < range.size) is_cut_ = true;
  const Status status = Read();
  if (!status.ok()) return Named(status.error());
  if (!wanted_) parts_.clear();
  return Done{};
}

// The bytes [begin, begin + size) of the file; nothing if they have not arrived.
std::optional<std::string_view> TorchFile::Find(std::uint64_t begin, std::uint64_t size) {
  for (const Part& part : parts_) {
    if (begin >= part.begin && begin - part.begin <= part.bytes.size() &&
        size <= part.bytes.size() - (begin - part.begin)) {
      return std::string_view(part.bytes)
          .substr(static_cast<std::size_t>(begin - part.begin), static_cast<std::size_t>(size));
    }
  }
  return Missing({begin, size});
}

std::optional<std::string_view> TorchFile::Missing(Range range) {
  range.size = std::max(range.size, kLeastPart);
  if (size_) range.size = std::min(range.size, *size_ - std::min(range.begin, *size_));
  wanted_ = range;
  return std::nullopt;
}

Status TorchFile::Read() {
  if (parts_.size() > kMostParts || (is_cut_ && size_)) {
    return BadTorch("it is shorter than the size that its host states");
  }
  const std::string_view start = parts_[0].bytes;
  is_zip_ = start.starts_with(kZipLocalMagic);
  return is_zip_ ? ReadZip() : ReadPickles();
}

// The data of the archive's file `name` that starts at `begin`.
Result<std::optional<std::string_view>> TorchFile::FindEntry(std::uint64_t begin,
                                                             std::string_view name,
                                                             std::uint64_t size) {
  const std::size_t head_size = kZipLocalHead + name.size();
  const auto head = Find(begin, head_size);
  if (!head) return head;
  GPT2_ASSIGN(const std::size_t before, ReadZipLocalHead(*head, name));
  if (size > end_ - std::min(end_, begin + before))
    return BadTorch("its pickle is longer than the file");
  return Find(begin + before, size);
}

Status TorchFile::ReadZip() {
  if (!size_) {
    return Error{
        ErrorCode::kUnsupported,
        "its host does not state its size, which is necessary to find the list of its files"};
  }
  end_ = *size_;
  const std::uint64_t tail_begin = end_ - std::min<std::uint64_t>(end_, kZipTail);
  // The bytes before it, up to a portion, contain most lists.
  const std::uint64_t portion = end_ - std::min(end_, kLeastPart);
  const auto around = Find(portion, end_ - portion);
  if (!around) return Done{};
  GPT2_ASSIGN(
      const ZipDirectory directory,
      FindZipDirectory(around->substr(static_cast<std::size_t>(tail_begin - portion)), end_));
  const auto list = Find(directory.begin, directory.size);
  if (!list) return Done{};
  GPT2_ASSIGN(const std::vector<ZipEntry> entries, ReadZipDirectory(*list, directory));
  std::map<std::string_view, const ZipEntry*> by_name;
  const ZipEntry* pickle_entry = nullptr;
  for (const ZipEntry& entry : entries) {
    if (!by_name.emplace(entry.name, &entry).second) {
      return BadTorch(Concat("its file ", Quoted(entry.name), " occurs twice"));
    }
    const bool is_pickle = entry.name.ends_with(kPickleFile) &&
                           entry.name.find('/') == entry.name.size() - kPickleFile.size() - 1;
    if (is_pickle) pickle_entry = &entry;
  }
  if (pickle_entry == nullptr)
    return BadTorch("it is a zip file without data.pkl, expected a file of torch.save");
  folder_ = pickle_entry->name.substr(0, pickle_entry->name.size() - kPickleFile.size());
  const std::string order_name = Concat(folder_, "byteorder");
  if (const auto order = by_name.find(order_name); order != by_name.end()) {
    const ZipEntry& entry = *order->second;
    GPT2_ASSIGN(const auto bytes,
                FindEntry(entry.begin, entry.name, std::min<std::uint64_t>(entry.size, 16)));
    if (!bytes) return Done{};
    if (*bytes != "little") {
      return Error{ErrorCode::kUnsupported,
                   Concat("its byte order is ", Quoted(*bytes), ", expected \"little\"")};
    }
  }
  if (pickle_entry->size > kMostPickleBytes) {
    return BadTorch(Concat("its pickle has ", pickle_entry->size, " bytes, expected at most ",
                           kMostPickleBytes));
  }
  GPT2_ASSIGN(const auto bytes,
              FindEntry(pickle_entry->begin, pickle_entry->name, pickle_entry->size));
  if (!bytes) return Done{};
  Crc32 crc;
  crc.Update(std::as_bytes(std::span(*bytes)));
  GPT2_TRY(CheckCrc(pickle_entry->name, pickle_entry->crc, crc));
  GPT2_ASSIGN(const std::optional<Pickle> pickle, ReadPickle(*bytes));
  if (!pickle) return BadTorch("its data.pkl ends inside a value");
  GPT2_ASSIGN(content_, ReadStateDict(*pickle));
  for (TorchStorage& storage : content_.storages) {
    const auto entry = by_name.find(EntryName(storage));
    if (entry == by_name.end()) {
      return BadTorch(Concat("its file ", Quoted(EntryName(storage)), " is missing"));
    }
    if (entry->second->size != storage.Bytes()) {
      return BadTorch(Concat("its file ", Quoted(entry->first), " has ", entry->second->size,
                             " bytes, its tensors need ", storage.Bytes()));
    }
    storage.begin = entry->second->begin;
    storage.crc = entry->second->crc;
  }
  SortStorages();
  return Done{};
}

Status TorchFile::ReadPickles() {
  const std::string_view bytes = parts_[0].bytes;
  std::size_t at = 0;
  std::vector<Pickle> pickles;
  // Magic number, version, system, state dict, keys of the storages.
  while (pickles.size() < 5) {
    auto read = ReadPickle(bytes.substr(at));
    if (!read.ok() && read.error().code == ErrorCode::kUnsupported) return read.error();
    const bool is_first = pickles.empty();
    const bool is_other =
        is_first && (!read.ok() || (read.value() && read.value()->Top().text != kMagicNumber));
    if (is_other || bytes.empty()) {
      constexpr std::size_t kShown = 24;
      return BadTorch(Concat("it is not a file of torch.save: it begins with ",
                             Quoted(bytes.substr(0, kShown))));
    }
    if (!read.ok()) return read.TakeError();
    if (!read.value()) {
      if (is_cut_ || bytes.size() == size_) return BadTorch("it ends inside a pickle");
      if (bytes.size() > kMostBeforeStorages) {
        return BadTorch(Concat("its pickles have more than ", kMostBeforeStorages, " bytes"));
      }
      Missing({bytes.size(), bytes.size()});
      return Done{};
    }
    at += read.value()->size;
    pickles.push_back(std::move(*read.value()));
  }
  if (pickles[1].Top().number != kProtocol) {
    return Error{ErrorCode::kUnsupported,
                 Concat("its protocol is ", pickles[1].Top().number, ", expected ", kProtocol)};
  }
  GPT2_TRY(CheckSystem(pickles[2]));
  GPT2_ASSIGN(content_, ReadStateDict(pickles[3]));
  return PlaceStorages(pickles[4], at);
}

// The older form: the storages follow each other in the order of `keys`, from `begin` on.
Status TorchFile::PlaceStorages(const Pickle& keys, std::uint64_t begin) {
  std::map<std::string_view, TorchStorage*> by_key;
  for (TorchStorage& storage : content_.storages) by_key[storage.key] = &storage;
  const PickleValue& list = keys.Top();
  for (std::size_t i = 0; list.kind == PickleValue::Kind::kList && i < list.items.size(); ++i) {
    const auto found = by_key.find(keys.Item(list, i).text);
    if (found == by_key.end()) {
      return BadTorch(Concat("its storage ", Quoted(keys.Item(list, i).text),
                             " occurs twice, or belongs to no tensor"));
    }
    found->second->begin = begin;
    begin += kTorchCountBytes + found->second->Bytes();
    by_key.erase(found);
  }
  if (!by_key.empty()) {
    return BadTorch(Concat("its storage ", Quoted(by_key.begin()->first), " is missing"));
  }
  if (size_ && *size_ < begin) {
    return BadTorch(Concat("it has ", *size_, " bytes, its tensors need ", begin));
  }
  end_ = size_.value_or(begin);
  SortStorages();
  return Done{};
}

void TorchFile::SortStorages() {
  std::vector<TorchStorage>& storages = content_.storages;
  const auto order = SortedIndices(storages.size(), [&](std::size_t a, std::size_t b) {
    return std::pair(storages[a].begin, a) < std::pair(storages[b].begin, b);
  });
  std::vector<TorchStorage> sorted;
  sorted.reserve(order.size());
  std::vector<std::size_t> places(order.size());
  for (const std::size_t old : order) {
    places[old] = sorted.size();
    sorted.push_back(std::move(storages[old]));
  }
  storages = std::move(sorted);
  for (TorchTensor& tensor : content_.tensors) tensor.storage = places[tensor.storage];
}

}  // namespace gpt2
