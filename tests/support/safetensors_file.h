// Safetensors files in memory, as tests make and change them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/format/json.h"
#include "engine/format/safetensors.h"

namespace gpt2::testing {

struct FileTensor {
  std::vector<std::uint64_t> shape;
  std::vector<float> values;
  DType dtype = DType::kF32;  // as it is stored: F32, F16 or BF16
};
using FileTensors = std::map<std::string, FileTensor>;

// The header of a file, as JSON, and the bytes of its tensors.
struct FileParts {
  Json header;
  std::string data;
};
FileParts SplitFile(const std::string& file);
std::string JoinFile(const Json& header, const std::string& data);

// The bytes of a file with `tensors`, in the order of their names.
std::string SafetensorsFile(const FileTensors& tensors);

// The tensors of a file, all of floats.
FileTensors ReadFileTensors(const std::string& file);

// "F32 [2, 3] bytes" of each tensor, by its name: the same for files in which tensors lie in
// another order.
std::map<std::string, std::string> TensorsOf(const std::string& file);

}  // namespace gpt2::testing
