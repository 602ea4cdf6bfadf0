// Files as torch.save writes them, and malformed ones, for tests of the reader.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/convert/torch_file.h"

namespace gpt2::testing {

// `size` little-endian bytes.
inline std::string LittleEndianBytes(std::uint64_t value, std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i, value >>= 8) bytes += static_cast<char>(value & 0xff);
  return bytes;
}

// Pieces of a pickle of protocol 2: each pushes one value.

inline std::string PickledText(std::string_view text) {
  return "X" + LittleEndianBytes(text.size(), 4) + std::string(text);
}
inline std::string PickledWhole(std::int64_t value) {
  return std::string("\x8a\x08", 2) + LittleEndianBytes(static_cast<std::uint64_t>(value), 8);
}
inline std::string PickledName(std::string_view module, std::string_view name) {
  return "c" + std::string(module) + "\n" + std::string(name) + "\n";
}
inline std::string PickledTuple(const std::vector<std::string>& items) {
  std::string tuple = "(";
  for (const std::string& item : items) tuple += item;
  return tuple + "t";
}
inline std::string PickledSizes(const std::vector<std::int64_t>& sizes) {
  std::vector<std::string> items;
  for (const std::int64_t size : sizes) items.push_back(PickledWhole(size));
  return PickledTuple(items);
}
inline std::string PickledDict(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string dict = PickledName("collections", "OrderedDict") + ")R(";
  for (const auto& [name, value] : items) dict += PickledText(name) + value;
  return dict + "u";
}
inline std::string AsPickle(const std::string& value) {
  return std::string("\x80\x02", 2) + value + ".";
}

// A view of a storage.
struct TensorView {
  std::string type = "FloatStorage";
  std::string key = "0";
  std::int64_t values = 0;  // of the storage
  std::int64_t offset = 0;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::string bits;  // "neg" or "conj"; "" for a usual view
};
inline std::string PickledTensor(const TensorView& view) {
  const std::string storage =
      PickledTuple({PickledText("storage"), PickledName("torch", view.type), PickledText(view.key),
                    PickledText("cpu"), PickledWhole(view.values)}) +
      "Q";
  const std::string no_hooks = PickledName("collections", "OrderedDict") + ")R";
  std::vector<std::string> arguments = {storage,
                                        PickledWhole(view.offset),
                                        PickledSizes(view.shape),
                                        PickledSizes(view.strides),
                                        "\x89",
                                        no_hooks};
  if (!view.bits.empty()) arguments.push_back("}" + PickledText(view.bits) + "\x88s");
  return PickledName("torch._utils", "_rebuild_tensor_v2") + PickledTuple(arguments) + "R";
}

struct ZipPart {
  std::string name;
  std::string bytes;
  std::uint64_t method = 0;
  std::uint64_t flags = 0x0808;
  bool is_zip64 = false;  // sizes and place in the extra field
  std::uint32_t crc = 0;  // 0: not computed
};

// A zip archive, sizes behind the data, as torch.save makes it.
inline std::string ZipOf(const std::vector<ZipPart>& parts) {
  const auto number = LittleEndianBytes;
  std::string file, list;
  for (const ZipPart& part : parts) {
    const std::size_t begin = file.size(), size = part.bytes.size();
    const std::string both =
        number(part.flags, 2) + number(part.method, 2) + number(0, 4) + number(part.crc, 4);
    const std::string padding = "FB" + number(3, 2) + "ZZZ";
    file += "PK\3\4" + number(0, 2) + both + number(0, 8) + number(part.name.size(), 2) +
            number(padding.size(), 2) + part.name + padding + part.bytes;
    file += "PK\7\x08" + number(0, 4) + number(size, 4) + number(size, 4);
    const std::string wide =
        number(1, 2) + number(24, 2) + number(size, 8) + number(size, 8) + number(begin, 8);
    const bool is_wide = part.is_zip64;
    const std::uint64_t in_extra = 0xffffffff;
    list += "PK\1\2" + number(0, 4) + both + number(is_wide ? in_extra : size, 4) +
            number(is_wide ? in_extra : size, 4) + number(part.name.size(), 2) +
            number(is_wide ? wide.size() : 0, 2) + number(0, 10) +
            number(is_wide ? in_extra : begin, 4) + part.name + (is_wide ? wide : "");
  }
  const std::size_t begin = file.size(), count = parts.size();
  file += list;
  const std::size_t end = file.size();
  file += "PK\6\6" + number(44, 8) + number(0, 12) + number(count, 8) + number(count, 8) +
          number(list.size(), 8) + number(begin, 8);
  file += "PK\6\7" + number(0, 4) + number(end, 8) + number(1, 4);
  return file + "PK\5\6" + number(0, 4) + number(count, 2) + number(count, 2) +
         number(list.size(), 4) + number(begin, 4) + number(0, 2);
}

// A zip file of torch.save: the state dict in `pickle`, and the storages "0", "1", ...
inline std::string TorchZip(const std::string& pickle, const std::vector<std::string>& storages) {
  std::vector<ZipPart> parts = {{"m/data.pkl", pickle}};
  for (std::size_t i = 0; i < storages.size(); ++i) {
    parts.push_back({"m/data/" + std::to_string(i), storages[i]});
  }
  parts.push_back({"m/version", "3\n"});
  return ZipOf(parts);
}

// A file as before PyTorch 1.6: the state dict in `pickle`, and the storages "0", "1", ... with
// `value_bytes` bytes per value.
inline std::string TorchOlder(const std::string& pickle, const std::vector<std::string>& storages,
                              const std::vector<std::size_t>& value_bytes) {
  std::string file = AsPickle("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19") +
                     AsPickle(PickledWhole(1001)) +
                     AsPickle("}" + PickledText("little_endian") + "\x88s") + pickle;
  std::string keys = "](", data;
  for (std::size_t i = 0; i < storages.size(); ++i) {
    keys += PickledText(std::to_string(i));
    data += LittleEndianBytes(storages[i].size() / value_bytes[i], 8) + storages[i];
  }
  return file + AsPickle(keys + "e") + data;
}

// Gives `file` the parts of `bytes` that it requests, and returns it when it has them all.
inline Result<TorchFile> ReadTorchFile(std::string_view bytes, const std::string& name,
                                       bool has_size = true) {
  TorchFile file(name, has_size ? std::optional<std::uint64_t>(bytes.size()) : std::nullopt);
  while (const auto wanted = file.wanted()) {
    const auto begin =
        static_cast<std::size_t>(std::min<std::uint64_t>(wanted->begin, bytes.size()));
    GPT2_TRY(file.Give(bytes.substr(begin, static_cast<std::size_t>(wanted->size))));
  }
  return file;
}

}  // namespace gpt2::testing
