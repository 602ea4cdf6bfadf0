#include "engine/convert/source_tensor.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/convert/block_types.h"
#include "engine/format/config_json.h"
#include "engine/format/safetensors.h"
#include "engine/format/weight_plan.h"
#include "engine/model/weight_format.h"
#include "engine/model/weights.h"

namespace gpt2 {

BlockType FloatType(DType dtype) {
  if (dtype == DType::kF16) return BlockType::kF16;
  return dtype == DType::kBF16 ? BlockType::kBF16 : BlockType::kF32;
}

Result<std::string_view> SafetensorsHead(std::string_view bytes, std::size_t most_tensors) {
  GPT2_ASSIGN(const std::size_t length,
              ReadSafetensorsPrefix(bytes, MostHeaderBytes(most_tensors)));
  const std::size_t wanted = kSafetensorsPrefix + length;
  if (bytes.size() >= wanted) return bytes.substr(0, wanted);
  return Error{ErrorCode::kCorrupt, Concat("model.safetensors: its header ends after ",
                                           bytes.size(), " bytes, expected ", wanted)};
}

Status ReadSafetensorsTensors(std::string_view heads, std::span<const std::size_t> head_ends,
                              ModelConfig& config, std::vector<TensorSpec>& specs,
                              std::vector<SourceTensor>& tensors) {
  const std::size_t most_tensors = MostTensors(specs, config.config);
  SafetensorsHeader all;
  std::vector<std::size_t> files;  // of each tensor
  std::uint64_t begin = 0;         // of a file's tensors among all files'
  std::size_t head_begin = 0;
  for (std::size_t file = 0; file < head_ends.size(); ++file) {
    const std::size_t json_begin = std::exchange(head_begin, head_ends[file]) + kSafetensorsPrefix;
    GPT2_ASSIGN(
        SafetensorsHeader header,
        ReadSafetensorsHeader(heads.substr(json_begin, head_begin - json_begin), most_tensors));
    for (TensorInfo& tensor : header.tensors) {
      tensor.begin += begin;
      tensor.end += begin;
      all.tensors.push_back(std::move(tensor));
      files.push_back(file);
    }
    if (!all.tensors.empty()) begin = all.tensors.back().end;
    all.metadata.merge(header.metadata);
  }
  SettleHead(all, config.config, specs);
  config.other_heads = OtherHeads(all);
  GPT2_ASSIGN(const auto plans, PlanTensors(all, config, specs, WeightFormat::kF32));
  for (const TensorPlan& plan : plans) {
    tensors.push_back({.spec = plan.spec,
                       .type = FloatType(plan.tensor->dtype),
                       .is_transposed = plan.kind == TensorPlan::Kind::kMatrixInputs,
                       .rows = plan.rows,
                       .row_bytes = plan.row_bytes,
                       .band_rows = plan.band_rows,
                       .file = files[tensors.size()]});
  }
  return Done{};
}

}  // namespace gpt2
