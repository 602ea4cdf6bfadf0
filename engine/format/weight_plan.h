// What becomes of each tensor of a model.safetensors: decided from the header and config.json
// alone, before a byte of the tensors has come or memory for one was taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/format/config_json.h"
#include "engine/format/safetensors.h"
#include "engine/model/weights.h"

namespace gpt2 {

// What __metadata__ says of a file whose matrices are rows of outputs, [out, in], as `gpt2-weights
// convert` writes them; a hub file stores Conv1D weights as [in, out]. See weights_tools/FORMAT.md.
inline constexpr const char* kFormatKey = "format";
inline constexpr const char* kFormatName = "gpt2-wasm";
inline constexpr const char* kVersionKey = "version";
inline constexpr const char* kFormatVersion = "1";
inline constexpr const char* kQ4FormatVersion = "2";  // of files with 4-bit matrices
inline constexpr const char* kScaleSuffix = "_scale";

// The name of a tensor's slot (TensorSlot::name): a checkpoint may put "transformer." before it.
std::string SlotName(const std::string& tensor_name);

// The most tensors that a file of the model of `slots` can have: its parameters with their scales,
// and the buffers that a checkpoint may carry beside them.
std::size_t MostTensors(std::span<const TensorSlot> slots, const Config& config);

// The most bytes that the header of a file with `most_tensors` can have.
std::uint64_t MostHeaderBytes(std::size_t most_tensors);

// A tensor is consumed in units: a row, or a band of kGroup rows of a transposed matrix.
struct TensorPlan {
  enum class Kind { kSkip, kMatrixRows, kMatrixInputs, kFloats, kCodes, kScales };

  Kind kind = Kind::kSkip;
  const TensorInfo* tensor = nullptr;
  const TensorSlot* slot = nullptr;                 // null for kSkip
  WeightFormat memory_format = WeightFormat::kF32;  // what the slot's matrix is to be
  std::size_t rows = 0;  // of the tensor as stored; at least 1 but for kSkip
  std::size_t row_bytes = 0;
  std::size_t unit_rows = 1;
};

// One plan for each tensor of `header`, in file order. `slots` are those of the config's model.
// Floating-point matrices become `float_format`. Fails, naming the tensor, where one is unknown,
// missing or not what config.json says. Borrows from `header` and `slots`.
Result<std::vector<TensorPlan>> PlanTensors(const SafetensorsHeader& header,
                                            const ModelConfig& config,
                                            std::span<const TensorSlot> slots,
                                            WeightFormat float_format);

}  // namespace gpt2
