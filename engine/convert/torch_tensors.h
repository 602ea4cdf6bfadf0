// The tensors of a pickled state dict of torch.save, and their storages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/function_ref.h"
#include "engine/base/result.h"
#include "engine/convert/pickle.h"

namespace gpt2 {

// The type of a storage's values.
struct TorchType {
  std::string_view storage;      // PyTorch's class, "FloatStorage"
  std::string_view safetensors;  // its name in a safetensors file, "F32"
  std::size_t bytes;             // of one value
};

struct TorchStorage {
  std::string key;        // its name in the file
  const TorchType* type;  // one of a table
  std::uint64_t values = 0;
  std::uint64_t begin = 0;  // its place in the file, including the bytes before it
  std::uint32_t crc = 0;    // of a zip archive's entry; 0: unknown

  std::uint64_t Bytes() const { return values * type->bytes; }
};

// A view of a storage.
struct TorchTensor {
  std::string name;
  std::size_t storage = 0;  // index
  std::uint64_t begin = 0;  // the storage's value that is its first
  std::uint64_t end = 0;    // one after its last value; `begin` if it has none
  std::uint64_t values = 0;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> strides;  // in values of the storage, not negative

  // Whether the tensor consists of the values [begin, end) in order.
  bool IsContiguous() const;
  bool IsSameViewAs(const TorchTensor& other) const;
};

struct TorchTensors {
  std::vector<TorchStorage> storages;  // in the order of the pickle
  std::vector<TorchTensor> tensors;
};

// The numbers [0, count) in the total order `is_before`. Heap sort takes little code.
std::vector<std::size_t> SortedIndices(
    std::size_t count, FunctionRef<bool(std::size_t first, std::size_t second)> is_before);

// Fails, naming what was found, if `pickle` is not a state dict, exceeds a limit, or has a tensor
// that exceeds its storage. Messages do not name the file.
Result<TorchTensors> ReadStateDict(const Pickle& pickle);

}  // namespace gpt2
