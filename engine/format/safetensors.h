// The header of a safetensors file (huggingface/safetensors, README "Format"): eight bytes of
// length, then a JSON object. For each tensor the object has its type, its shape and the place of
// its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace gpt2 {

enum class DType { kF32, kF16, kBF16, kI8, kU8, kOther };

// The size of one value in bytes; 0 for kOther.
std::size_t DTypeSize(DType dtype);
std::string_view DTypeName(DType dtype);
DType DTypeNamed(std::string_view name);  // kOther if there is none

struct TensorInfo {
  std::string name;
  DType dtype = DType::kOther;
  std::string other_type;  // for kOther, the name of the type in the file: "F64", ...
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0;  // bytes [begin, end) of the data that follows the header
  std::uint64_t end = 0;

  // "F32 [2, 3]"
  std::string Describe() const;
};

struct SafetensorsHeader {
  // In order of `begin`, with different names. Together they cover the data without gap or overlap.
  std::vector<TensorInfo> tensors;
  std::map<std::string, std::string> metadata;
};

inline constexpr std::size_t kSafetensorsPrefix = 8;  // bytes of the little-endian header length

inline constexpr std::uint64_t kMostHeaderBytes = 100'000'000;  // as in the reference reader

// A kCorrupt error whose message is the name of the weights file and `what`.
Error CorruptWeights(const std::string& what);

// The length of the header that follows the prefix, at most `most` bytes.
Result<std::size_t> ReadSafetensorsPrefix(std::string_view prefix,
                                          std::uint64_t most = kMostHeaderBytes);

// Parses the header. Fails on anything that two readers could interpret differently, and as soon as
// there are more than `most_tensors` tensors.
Result<SafetensorsHeader> ReadSafetensorsHeader(std::string_view json, std::size_t most_tensors);

}  // namespace gpt2
