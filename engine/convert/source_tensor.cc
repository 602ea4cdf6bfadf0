#include "engine/convert/source_tensor.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/convert/block_types.h"
#include "engine/format/config_json.h"
#include "engine/format/safetensors.h"
#include "engine/format/weight_plan.h"
#include "engine/kernels/layout.h"
#include "engine/model/config.h"
#include "engine/model/weights.h"
#include "engine/text/quoted.h"

namespace gpt2 {
namespace {

constexpr std::size_t kSkippedBytes = 1 << 16;  // bytes of an unused tensor, at a time

// The causal masks, which a checkpoint may contain although they are not parameters.
bool IsMask(std::string_view name) {
  return name.starts_with("h.") &&
         (name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias"));
}

// Heads of transformers' other GPT-2 classes (modeling_gpt2.py) and, v_head, of TRL's value model.
constexpr std::string_view kOtherHeads[] = {"score", "classifier", "multiple_choice_head",
                                            "qa_outputs", "v_head"};
constexpr std::size_t kMostOfOtherHeads = 16;  // tensors

// The head of the tensor `name`, if it is not the language model's.
std::string_view OtherHeadOf(std::string_view name) {
  for (const std::string_view head : kOtherHeads) {
    if (name.starts_with(head) && name.substr(head.size()).starts_with('.')) return head;
  }
  return {};
}

bool IsOfCrossAttention(std::string_view name) {
  return name.find(".crossattention.") != std::string_view::npos ||
         name.find(".ln_cross_attn.") != std::string_view::npos;
}
constexpr std::size_t kMostOfCrossAttention = 10;  // tensors of a layer

// The names of the files' heads other than the language model's, such as "score". They are skipped.
std::vector<std::string> OtherHeads(const SafetensorsHeader& header) {
  std::vector<std::string> heads;
  for (const TensorInfo& tensor : header.tensors) {
    const std::string_view head = OtherHeadOf(CanonicalName(tensor.name));
    if (head.empty() || std::find(heads.begin(), heads.end(), head) != heads.end()) continue;
    heads.emplace_back(head);
  }
  return heads;
}

// How `tensor`, which is no parameter, is skipped.
Result<SourceTensor> PlanUnused(const TensorInfo& tensor) {
  const std::string name = CanonicalName(tensor.name);
  if (IsOfCrossAttention(name)) {
    return Error{ErrorCode::kUnsupported,
                 Concat("model.safetensors: tensor ", Quoted(tensor.name),
                        " belongs to cross-attention, which this engine does not run")};
  }
  if (!IsMask(name) && OtherHeadOf(name).empty()) return UnknownTensor(tensor);
  const std::uint64_t bytes = tensor.end - tensor.begin;
  if (bytes > std::numeric_limits<std::size_t>::max()) {
    return CorruptWeights(Concat("tensor ", Quoted(tensor.name), " is too large"));
  }
  return SourceTensor{
      .rows = static_cast<std::size_t>(bytes), .row_bytes = 1, .band_rows = kSkippedBytes};
}

// How `tensor`, the parameter `spec`, is read. Its shape is bounded by config.json.
Result<SourceTensor> PlanParameter(const TensorInfo& tensor, const TensorSpec& spec) {
  std::vector<std::uint64_t> shape = {spec.rows, spec.cols};
  if (spec.is_conv1d()) std::swap(shape[0], shape[1]);
  if (spec.is_vector()) shape = {spec.cols};
  GPT2_TRY(CheckTensor(tensor, DType::kOther, shape));
  const auto rows = spec.is_vector() ? 1 : static_cast<std::size_t>(shape[0]);
  return SourceTensor{.spec = &spec,
                      .type = FloatType(tensor.dtype),
                      .is_transposed = spec.is_conv1d(),
                      .rows = rows,
                      .row_bytes = static_cast<std::size_t>(tensor.end - tensor.begin) / rows,
                      .band_rows = spec.is_conv1d() ? kGroup : 1};
}

}  // namespace

BlockType FloatType(DType dtype) {
  if (dtype == DType::kF16) return BlockType::kF16;
  return dtype == DType::kBF16 ? BlockType::kBF16 : BlockType::kF32;
}

std::size_t MostSourceTensors(std::span<const TensorSpec> specs, const Config& config) {
  const std::size_t of_layers = (2 + kMostOfCrossAttention) * config.n_layer;  // 2 masks
  return MostTensors(specs, config) + of_layers + kMostOfOtherHeads;
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
  const std::size_t most_tensors = MostSourceTensors(specs, config.config);
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
  const auto format = all.metadata.find(kFormatKey);
  if (format != all.metadata.end() && format->second == kFormatName) {
    return CorruptWeights("the weights are converted, but config.json has no quantization_config");
  }
  SettleHead(all, config.config, specs);
  config.other_heads = OtherHeads(all);
  TensorsByName by_name(specs);
  for (const TensorInfo& tensor : all.tensors) {
    const std::string name = CanonicalName(tensor.name);
    GPT2_TRY(by_name.Add(name, tensor));
    const TensorSpec* const spec = by_name.SpecOf(name);
    GPT2_ASSIGN(SourceTensor source,
                spec == nullptr ? PlanUnused(tensor) : PlanParameter(tensor, *spec));
    source.file = files[tensors.size()];
    tensors.push_back(source);
  }
  return by_name.CheckComplete();
}

}  // namespace gpt2
