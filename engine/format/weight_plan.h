// The plan for each tensor of a converted model.safetensors. It is made from the header and
// config.json, before any byte of the tensors arrives and before memory is allocated for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/format/config_json.h"
#include "engine/format/safetensors.h"
#include "engine/model/config.h"
#include "engine/model/weight_format.h"
#include "engine/model/weights.h"

namespace gpt2 {

// The __metadata__ of a file as `gpt2-weights convert` writes it. See weights_tools/FORMAT.md.
inline constexpr const char* kFormatKey = "format";  // its value is kFormatName
inline constexpr const char* kVersionKey = "version";
inline constexpr const char* kScaleSuffix = "_scale";

// `name` without the prefix "transformer." that a checkpoint may have, as in TensorSpec.
std::string CanonicalName(const std::string& tensor_name);

// The most tensors that a file of the model `specs` can have: its parameters with their scales.
std::size_t MostTensors(std::span<const TensorSpec> specs, const Config& config);

// The most bytes that the header of a file with `most_tensors` can have.
std::uint64_t MostHeaderBytes(std::size_t most_tensors);

// Decides which tensor is the head of a model whose config ties the head to the embedding. If the
// file has a head, the engine reads it, as transformers 5 does (PreTrainedModel.tie_weights), and
// `config` and `specs` become those of an untied head. If the file has a head but no embedding, the
// head is renamed to the embedding in `header`: safetensors.torch.save_model writes such files.
void SettleHead(SafetensorsHeader& header, Config& config, std::vector<TensorSpec>& specs);

// The error for a tensor that is no parameter.
Error UnknownTensor(const TensorInfo& tensor);

// Fails if `tensor` does not have this shape and type; kOther means any floating point.
Status CheckTensor(const TensorInfo& tensor, DType dtype, const std::vector<std::uint64_t>& shape);

// The tensors of a model's files, by their canonical names. Borrows everything.
class TensorsByName {
 public:
  explicit TensorsByName(std::span<const TensorSpec> specs);

  // Fails if `name` was added before.
  Status Add(const std::string& name, const TensorInfo& tensor);

  // The parameter and the tensor `name`; null if there is none.
  const TensorSpec* SpecOf(std::string_view name) const;
  const TensorInfo* Find(std::string_view name) const;

  // Fails if a parameter or its scales are missing.
  Status CheckComplete() const;

 private:
  std::span<const TensorSpec> specs_;
  std::map<std::string_view, const TensorSpec*> specs_by_name_;
  std::map<std::string, const TensorInfo*, std::less<>> tensors_;
};

// How one tensor is read, row by row.
struct TensorPlan {
  const TensorInfo* tensor = nullptr;
  const TensorSpec* spec = nullptr;
  WeightFormat format = WeightFormat::kF32;  // of the spec's matrix in memory
  bool is_scales = false;                    // those of the matrix, whose codes came before
  std::size_t rows = 0;                      // of the tensor; at least 1
  std::size_t row_bytes = 0;
};

// One plan for each tensor of `header`, in file order. `specs` are those of the config's model.
// Fails, naming the tensor, if one is unknown, missing or not what config.json says. Borrows from
// `header` and `specs`. The config must have `weights`.
Result<std::vector<TensorPlan>> PlanTensors(const SafetensorsHeader& header,
                                            const ModelConfig& config,
                                            std::span<const TensorSpec> specs);

}  // namespace gpt2
