// The plan for each tensor of a model.safetensors. It is made from the header and config.json,
// before any byte of the tensors arrives and before memory is allocated for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/format/config_json.h"
#include "engine/format/safetensors.h"
#include "engine/format/stored_weights.h"
#include "engine/model/config.h"
#include "engine/model/weights.h"

namespace gpt2 {

// The __metadata__ of a file whose matrices are rows of outputs, [out, in], as `gpt2-weights
// convert` writes them. A Hub file stores Conv1D weights as [in, out]. See weights_tools/FORMAT.md.
inline constexpr const char* kFormatKey = "format";  // its value is kFormatName
inline constexpr const char* kVersionKey = "version";
inline constexpr const char* kScaleSuffix = "_scale";

// `name` without the prefix "transformer." that a checkpoint may have, as in TensorSpec.
std::string CanonicalName(const std::string& tensor_name);

// The most tensors that a file of the model `specs` can have: its parameters with their scales, and
// the buffers that a checkpoint may add.
std::size_t MostTensors(std::span<const TensorSpec> specs, const Config& config);

// The most bytes that the header of a file with `most_tensors` can have.
std::uint64_t MostHeaderBytes(std::size_t most_tensors);

// Decides which tensor is the head of a model whose config ties the head to the embedding. If the
// file has a head, the engine reads it, as transformers 5 does (PreTrainedModel.tie_weights), and
// `config` and `specs` become those of an untied head. If the file has a head but no embedding, the
// head is renamed to the embedding in `header`: safetensors.torch.save_model writes such files.
void SettleHead(SafetensorsHeader& header, Config& config, std::vector<TensorSpec>& specs);

// The names of the file's heads other than the language model's, such as "score". They are skipped.
std::vector<std::string> OtherHeads(const SafetensorsHeader& header);

// How one tensor is read. Its bytes come in bands: one row, or kGroup rows of a transposed matrix,
// which form a group of inputs of every output.
struct TensorPlan {
  enum class Kind {
    kSkip,
    kMatrixRows,    // floats [out, in] of a matrix
    kMatrixInputs,  // floats [in, out] of a matrix
    kFloats,        // floats that stay unchanged
    kCodes,
    kScales,
  };

  Kind kind = Kind::kSkip;
  const TensorInfo* tensor = nullptr;
  const TensorSpec* spec = nullptr;                 // null for kSkip
  WeightFormat memory_format = WeightFormat::kF32;  // the format of the spec's matrix in memory
  bool is_half = false;  // floats are rounded to float16, as in a converted file
  std::size_t rows = 0;  // of the tensor as stored; at least 1 except for kSkip
  std::size_t row_bytes = 0;
  std::size_t band_rows = 1;
};

// One plan for each tensor of `header`, in file order. `specs` are those of the config's model.
// Floating-point matrices become `float_format`. Fails, naming the tensor, if one is unknown,
// missing or not what config.json says. Borrows from `header` and `specs`.
Result<std::vector<TensorPlan>> PlanTensors(const SafetensorsHeader& header,
                                            const ModelConfig& config,
                                            std::span<const TensorSpec> specs,
                                            WeightFormat float_format);

}  // namespace gpt2
