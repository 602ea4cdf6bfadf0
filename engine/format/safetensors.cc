#include "engine/format/safetensors.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/text/quoted.h"

namespace gpt2 {
namespace {

constexpr std::size_t kMostDimensions = 8;  // masks have four
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
  const auto bad = [&](const std::string& what) {
    return CorruptWeights(Concat("tensor ", Quoted(name), ": ", what));
  };
  const Json* const dtype = FindMember(json, "dtype");
  const Json* const shape = FindMember(json, "shape");
  const Json* const offsets = FindMember(json, "data_offsets");
  if (dtype == nullptr || !dtype->is_string() || shape == nullptr || !shape->is_array() ||
      offsets == nullptr || !offsets->is_array() || offsets->size() != 2) {
    return bad("expected dtype, shape and two data_offsets");
  }
  TensorInfo tensor;
  tensor.name = name;
  tensor.dtype = DTypeNamed(dtype->get_ref<const std::string&>());
  if (tensor.dtype == DType::kOther) tensor.other_type = dtype->get_ref<const std::string&>();
  if (shape->size() > kMostDimensions) {
    return bad(
        Concat("its shape has ", shape->size(), " dimensions, expected at most ", kMostDimensions));
  }
  for (const Json& size : *shape) {
    const auto value = WholeNumber(size, 0, kLargestOffset);
    if (!value) return bad("its shape has a size that is not a whole number");
    tensor.shape.push_back(static_cast<std::uint64_t>(*value));
  }
  const auto begin = WholeNumber((*offsets)[0], 0, kLargestOffset);
  const auto end = WholeNumber((*offsets)[1], 0, kLargestOffset);
  if (!begin || !end || *begin > *end) return bad("its data_offsets are not a range of bytes");
  tensor.begin = static_cast<std::uint64_t>(*begin);
  tensor.end = static_cast<std::uint64_t>(*end);
  const auto count = CountValues(tensor.shape);
  if (!count) return bad("its shape has too many values");
  const std::uint64_t size = DTypeSize(tensor.dtype);
  if (size != 0 && *count * size != tensor.end - tensor.begin) {
    return bad(Concat(tensor.Describe(), " takes ", *count * size, " bytes, its data_offsets span ",
                      tensor.end - tensor.begin));
  }
  return tensor;
}

// Values that are not text are ignored: none is used.
Status ReadMetadata(const Json& json, std::map<std::string, std::string>& metadata) {
  if (!json.is_object())
    return CorruptWeights(Concat("\"__metadata__\" is ", Shown(json), ", expected an object"));
  for (const auto& [key, value] : json.items()) {
    if (value.is_string()) metadata[key] = value.get_ref<const std::string&>();
  }
  return Done{};
}

Status CheckNamesDiffer(const std::vector<TensorInfo>& tensors) {
  std::vector<std::string_view> names;
  names.reserve(tensors.size());
  for (const TensorInfo& tensor : tensors) names.push_back(tensor.name);
  SortNames(names);
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return Done{};
  return CorruptWeights(Concat("tensor ", Quoted(*twice), " is listed twice"));
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

DType DTypeNamed(std::string_view name) {
  for (const DTypeRow& row : kDTypes) {
    if (row.name == name) return row.dtype;
  }
  return DType::kOther;
}

std::string TensorInfo::Describe() const {
  std::string text = other_type.empty() ? std::string(DTypeName(dtype)) : Quoted(other_type);
  text += " [";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return text + "]";
}

Error CorruptWeights(const std::string& what) {
  return Error{ErrorCode::kCorrupt, Concat("model.safetensors: ", what)};
}

Result<std::size_t> ReadSafetensorsPrefix(std::string_view prefix, std::uint64_t most) {
  if (prefix.size() < kSafetensorsPrefix) {
    return CorruptWeights(Concat("the file has ", prefix.size(),
                                 " bytes, expected at least 8 for the length of its header"));
  }
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kSafetensorsPrefix; ++i) {
    length |= static_cast<std::uint64_t>(static_cast<unsigned char>(prefix[i])) << (8 * i);
  }
  if (length < 2 || length > most) {
    return CorruptWeights(Concat("not a safetensors file of this model: its header length is ",
                                 std::to_string(length), " bytes, expected 2 to ", most));
  }
  return static_cast<std::size_t>(length);
}

Result<SafetensorsHeader> ReadSafetensorsHeader(std::string_view text, std::size_t most_tensors) {
  SafetensorsHeader header;
  bool has_metadata = false;
  const auto take = [&](const std::string& name, const Json& value) -> Status {
    if (name == "__metadata__") {
      if (std::exchange(has_metadata, true))
        return CorruptWeights("\"__metadata__\" is listed twice");
      return ReadMetadata(value, header.metadata);
    }
    if (header.tensors.size() == most_tensors) {
      return CorruptWeights(Concat("more than ", most_tensors,
                                   " tensors, the most that a GPT-2 of this config.json can have"));
    }
    GPT2_ASSIGN(TensorInfo tensor, ReadTensor(name, value));
    header.tensors.push_back(std::move(tensor));
    return Done{};
  };
  GPT2_TRY(ForMembers(text, "the header of model.safetensors", take));
  GPT2_TRY(CheckNamesDiffer(header.tensors));
  // Empty tensors may share a place; their names make the order the same everywhere.
  const auto is_before = [](const TensorInfo& a, const TensorInfo& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  };
  std::make_heap(header.tensors.begin(), header.tensors.end(), is_before);
  std::sort_heap(header.tensors.begin(), header.tensors.end(), is_before);
  std::uint64_t expected = 0;
  for (const TensorInfo& tensor : header.tensors) {
    if (tensor.begin != expected) {
      return CorruptWeights(Concat("tensor ", Quoted(tensor.name), " begins at byte ", tensor.begin,
                                   ", expected ", expected,
                                   ": tensors must neither overlap nor leave gaps"));
    }
    expected = tensor.end;
  }
  return header;
}

}  // namespace gpt2
