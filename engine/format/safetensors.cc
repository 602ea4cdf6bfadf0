#include "engine/format/safetensors.h"

#include <algorithm>
#include <array>
#include <limits>

#include "engine/format/json.h"

namespace gpt2 {
namespace {

constexpr std::uint64_t kLargestHeader = 100'000'000;
constexpr std::int64_t kLargestOffset = std::int64_t{1} << 53;

struct DTypeRow {
  DType dtype;
  std::string_view name;
  std::size_t size;
};
constexpr std::array<DTypeRow, 5> kDTypes = {{{DType::kF32, "F32", 4},
                                              {DType::kF16, "F16", 2},
                                              {DType::kBF16, "BF16", 2},
                                              {DType::kI8, "I8", 1},
                                              {DType::kU8, "U8", 1}}};

Error Bad(const std::string& what) {
  return Error{ErrorCode::kCorrupt, "model.safetensors: " + what};
}

// The number of values of a shape, if it fits.
std::optional<std::uint64_t> CountValues(const std::vector<std::uint64_t>& shape) {
  std::uint64_t count = 1;
  for (const std::uint64_t size : shape) {
    if (size != 0 && count > static_cast<std::uint64_t>(kLargestOffset) / size) return std::nullopt;
    count *= size;
  }
  return count;
}

Result<TensorInfo> ReadTensor(const std::string& name, const Json& json) {
  const auto bad = [&](const std::string& what) { return Bad("tensor \"" + name + "\": " + what); };
  if (!json.is_object() || !json.contains("dtype") || !json["dtype"].is_string() ||
      !json.contains("shape") || !json["shape"].is_array() || !json.contains("data_offsets") ||
      !json["data_offsets"].is_array() || json["data_offsets"].size() != 2) {
    return bad("expected dtype, shape and two data_offsets");
  }
  TensorInfo tensor;
  tensor.name = name;
  for (const DTypeRow& row : kDTypes) {
    if (json["dtype"] == row.name) tensor.dtype = row.dtype;
  }
  for (const Json& size : json["shape"]) {
    const auto value = WholeNumber(size, 0, kLargestOffset);
    if (!value) return bad("its shape has a size that is not a whole number");
    tensor.shape.push_back(static_cast<std::uint64_t>(*value));
  }
  const auto begin = WholeNumber(json["data_offsets"][0], 0, kLargestOffset);
  const auto end = WholeNumber(json["data_offsets"][1], 0, kLargestOffset);
  if (!begin || !end || *begin > *end) return bad("its data_offsets are not a range of bytes");
  tensor.begin = static_cast<std::uint64_t>(*begin);
  tensor.end = static_cast<std::uint64_t>(*end);
  const auto count = CountValues(tensor.shape);
  if (!count) return bad("its shape has too many values");
  const std::uint64_t size = DTypeSize(tensor.dtype);
  if (size != 0 && *count * size != tensor.end - tensor.begin) {
    return bad(tensor.Describe() + " takes " + std::to_string(*count * size) +
               " bytes, its data_offsets span " + std::to_string(tensor.end - tensor.begin));
  }
  return tensor;
}

}  // namespace

std::size_t DTypeSize(DType dtype) {
  for (const DTypeRow& row : kDTypes) {
    if (row.dtype == dtype) return row.size;
  }
  return 0;
}

std::string_view DTypeName(DType dtype) {
  for (const DTypeRow& row : kDTypes) {
    if (row.dtype == dtype) return row.name;
  }
  return "another type";
}

std::string TensorInfo::Describe() const {
  std::string text(DTypeName(dtype));
  text += " [";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return text + "]";
}

Result<std::size_t> ReadSafetensorsPrefix(std::string_view prefix) {
  if (prefix.size() < kSafetensorsPrefix) {
    return Bad("the file is " + std::to_string(prefix.size()) +
               " bytes, its header length takes 8");
  }
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kSafetensorsPrefix; ++i) {
    length |= static_cast<std::uint64_t>(static_cast<unsigned char>(prefix[i])) << (8 * i);
  }
  if (length < 2 || length > kLargestHeader) {
    return Bad("not a safetensors file: its header length is " + std::to_string(length) +
               " bytes, expected 2 to " + std::to_string(kLargestHeader));
  }
  return static_cast<std::size_t>(length);
}

Result<SafetensorsHeader> ReadSafetensorsHeader(std::string_view text) {
  GPT2_ASSIGN(const Json json, ParseJson(text, "the header of model.safetensors"));
  if (!json.is_object()) return Bad("its header is not a JSON object");
  SafetensorsHeader header;
  for (const auto& [name, value] : json.items()) {
    if (name == "__metadata__") {
      if (!value.is_object()) return Bad("\"__metadata__\" is not an object");
      for (const auto& [key, entry] : value.items()) {
        if (entry.is_string()) header.metadata[key] = entry.get<std::string>();
      }
      continue;
    }
    GPT2_ASSIGN(TensorInfo tensor, ReadTensor(name, value));
    header.tensors.push_back(std::move(tensor));
  }
  std::stable_sort(header.tensors.begin(), header.tensors.end(),
                   [](const TensorInfo& a, const TensorInfo& b) {
                     return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
                   });
  std::uint64_t expected = 0;
  for (const TensorInfo& tensor : header.tensors) {
    if (tensor.begin != expected) {
      return Bad("tensor \"" + tensor.name + "\" begins at byte " + std::to_string(tensor.begin) +
                 ", expected " + std::to_string(expected) +
                 ": tensors must neither overlap nor leave gaps");
    }
    expected = tensor.end;
  }
  return header;
}

}  // namespace gpt2
