#include "engine/format/weight_plan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/aligned_buffer.h"
#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/format/code_rows.h"
#include "engine/format/config_json.h"
#include "engine/format/safetensors.h"
#include "engine/format/stored_weights.h"
#include "engine/kernels/layout.h"
#include "engine/model/config.h"
#include "engine/model/weight_format.h"
#include "engine/model/weights.h"
#include "engine/text/quoted.h"

namespace gpt2 {
namespace {

constexpr const char* kEmbeddingName = "wte.weight";
constexpr const char* kHeadName = "lm_head.weight";
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

std::string ShapeText(std::span<const std::uint64_t> shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

// The required properties of a tensor.
struct Expected {
  DType dtype;  // kOther: any floating point
  std::vector<std::uint64_t> shape;

  bool Matches(const TensorInfo& tensor) const {
    const bool is_type =
        dtype == DType::kOther ? DTypeSize(tensor.dtype) >= 2 : tensor.dtype == dtype;
    return is_type && tensor.shape == shape;
  }
  Error Mismatch(const TensorInfo& tensor) const {
    const std::string type =
        dtype == DType::kOther ? "F32, F16 or BF16" : std::string(DTypeName(dtype));
    Error error = CorruptWeights(Concat("tensor ", Quoted(tensor.name), " is ", tensor.Describe(),
                                        ", config.json requires ", type, " ", ShapeText(shape)));
    // Float64 and similar types from a Hub are well-formed, but not supported.
    if (dtype == DType::kOther && tensor.shape == shape) error.code = ErrorCode::kUnsupported;
    return error;
  }
};

class Planner {
 public:
  Planner(const ModelConfig& config, WeightFormat float_format)
      : config_(config), float_format_(float_format) {}

  Result<TensorPlan> PlanIgnored(const TensorInfo& tensor) const {
    const std::string name = CanonicalName(tensor.name);
    if (IsOfCrossAttention(name)) {
      return Error{ErrorCode::kUnsupported,
                   Concat("model.safetensors: tensor ", Quoted(tensor.name),
                          " belongs to cross-attention, which this engine does not run")};
    }
    if (!IsMask(name) && OtherHeadOf(name).empty()) {
      return CorruptWeights(Concat("tensor ", Quoted(tensor.name), " does not belong to a GPT-2"));
    }
    if (tensor.end - tensor.begin > std::numeric_limits<std::size_t>::max()) {
      return CorruptWeights(Concat("tensor ", Quoted(tensor.name), " is too large"));
    }
    return TensorPlan{.tensor = &tensor,
                      .rows = static_cast<std::size_t>(tensor.end - tensor.begin),
                      .row_bytes = 1,
                      .band_rows = kSkippedBytes};
  }

  Result<TensorPlan> PlanParameter(const TensorInfo& tensor, const TensorSpec& spec) const {
    const bool is_hub = config_.weights == StoredWeights::kHub;
    const bool is_transposed = spec.is_conv1d() && is_hub;
    Expected expected{DType::kOther, {spec.rows, spec.cols}};
    if (spec.is_vector()) expected.shape = {spec.cols};
    if (is_transposed) expected.shape = {spec.cols, spec.rows};
    if (spec.is_matrix() && !is_hub) expected.dtype = StoredDType(config_.weights, spec);
    if (const WeightFormatInfo* const codes = FormatOfCodes(expected.dtype)) {
      expected.shape[1] = CodeRowBytes(codes->format, spec.cols);
    }
    if (!expected.Matches(tensor)) return expected.Mismatch(tensor);
    TensorPlan plan = Rows(tensor, spec);
    if (const WeightFormatInfo* const codes = FormatOfCodes(tensor.dtype)) {
      plan.kind = TensorPlan::Kind::kCodes;
      plan.memory_format = codes->format;
    } else if (!spec.is_matrix()) {
      plan.kind = TensorPlan::Kind::kFloats;
    } else {
      plan.kind = is_transposed ? TensorPlan::Kind::kMatrixInputs : TensorPlan::Kind::kMatrixRows;
      plan.memory_format = float_format_;
      if (is_transposed) plan.band_rows = kGroup;
    }
    plan.is_half =
        float_format_ == WeightFormat::kQ8 && StoredDType(StoredWeights::kQ8, spec) == DType::kF16;
    return plan;
  }

  // The plan for the scales of `codes`, which must come first: their matrix then stores the scales,
  // too.
  Result<TensorPlan> PlanScales(const TensorInfo& tensor, const TensorInfo* codes,
                                const TensorSpec& spec) const {
    if (codes == nullptr || FormatOfCodes(codes->dtype) == nullptr) {
      return CorruptWeights(
          Concat("tensor ", Quoted(tensor.name), " has no codes \"", spec.name, "\" before it"));
    }
    const Expected expected{DType::kBF16, {spec.rows, CeilDiv(spec.cols, kGroup)}};
    if (!expected.Matches(tensor)) return expected.Mismatch(tensor);
    TensorPlan plan = Rows(tensor, spec);
    plan.kind = TensorPlan::Kind::kScales;
    return plan;
  }

 private:
  // For a tensor whose shape is right, and so bounded by config.json.
  static TensorPlan Rows(const TensorInfo& tensor, const TensorSpec& spec) {
    const auto rows = spec.is_vector() ? 1 : static_cast<std::size_t>(tensor.shape[0]);
    const auto bytes = static_cast<std::size_t>(tensor.end - tensor.begin);
    return {.tensor = &tensor, .spec = &spec, .rows = rows, .row_bytes = bytes / rows};
  }

  const ModelConfig& config_;
  WeightFormat float_format_;
};

using TensorsByName = std::map<std::string, const TensorInfo*, std::less<>>;

const TensorInfo* Find(const TensorsByName& tensors, const std::string& name) {
  const auto found = tensors.find(name);
  return found == tensors.end() ? nullptr : found->second;
}

Status CheckComplete(const TensorsByName& tensors, std::span<const TensorSpec> specs) {
  const auto missing = [](const std::string& name, const std::string& what) {
    return Error{ErrorCode::kNotFound,
                 Concat("model.safetensors: tensor \"", name, "\" is missing", what)};
  };
  for (const TensorSpec& spec : specs) {
    const TensorInfo* const tensor = Find(tensors, spec.name);
    if (tensor == nullptr && spec.is_required()) {
      return missing(spec.name,
                     ", expected " + (spec.is_vector() ? ShapeText({{spec.cols}})
                                                       : ShapeText({{spec.rows, spec.cols}})));
    }
    const bool has_codes = tensor != nullptr && FormatOfCodes(tensor->dtype) != nullptr;
    const std::string scales = spec.name + kScaleSuffix;
    if (has_codes && Find(tensors, scales) == nullptr) {
      return missing(scales, ", the scales of \"" + spec.name + "\"");
    }
  }
  return Done{};
}

// config.json must state whether the file is converted, and its version.
Status CheckFormat(const SafetensorsHeader& header, const ModelConfig& config) {
  const auto metadata = [&](const char* key) {
    const auto found = header.metadata.find(key);
    return found == header.metadata.end() ? std::string() : found->second;
  };
  const bool is_converted = metadata(kFormatKey) == kFormatName;
  if (is_converted == (config.weights == StoredWeights::kHub)) {
    return CorruptWeights(
        is_converted
            ? "the weights are converted, but config.json has no quantization_config"
            : "the weights are not converted, but config.json has a quantization_config: the files "
              "belong to different models");
  }
  if (!is_converted) return Done{};
  const std::string version = metadata(kVersionKey);
  if (version != kFormatVersion && version != kQ4FormatVersion) {
    return Error{ErrorCode::kUnsupported,
                 Concat("model.safetensors: version ", Quoted(version), ", expected ",
                        kFormatVersion, " or ", kQ4FormatVersion)};
  }
  const char* const expected = InfoOf(config.weights).version;
  if (version == expected) return Done{};
  return CorruptWeights(Concat("version ", version, ", but config.json says \"",
                               StoredWeightsName(config.weights), "\", which is version ",
                               expected));
}

}  // namespace

std::string CanonicalName(const std::string& tensor_name) {
  constexpr std::string_view kPrefix = "transformer.";
  return tensor_name.starts_with(kPrefix) ? tensor_name.substr(kPrefix.size()) : tensor_name;
}

std::size_t MostTensors(std::span<const TensorSpec> specs, const Config& config) {
  const std::size_t tied_head = config.tie_word_embeddings ? 2 : 0;            // and its scales
  const std::size_t of_layers = (2 + kMostOfCrossAttention) * config.n_layer;  // 2 masks
  const auto scales = std::count_if(specs.begin(), specs.end(),
                                    [](const TensorSpec& spec) { return spec.is_matrix(); });
  return specs.size() + static_cast<std::size_t>(scales) + of_layers + tied_head +
         kMostOfOtherHeads;
}

std::uint64_t MostHeaderBytes(std::size_t most_tensors) {
  constexpr std::uint64_t kPerTensor = 1024;  // some 120 are usual
  constexpr std::uint64_t kMetadata = 1 << 20;
  return std::min(kMostHeaderBytes, kMetadata + kPerTensor * most_tensors);
}

void SettleHead(SafetensorsHeader& header, Config& config, std::vector<TensorSpec>& specs) {
  if (!config.tie_word_embeddings) return;
  TensorInfo *embedding = nullptr, *head = nullptr;
  for (TensorInfo& tensor : header.tensors) {
    const std::string name = CanonicalName(tensor.name);
    if (name == kEmbeddingName) embedding = &tensor;
    if (name == kHeadName) head = &tensor;
  }
  if (head == nullptr) return;
  if (embedding == nullptr) {
    head->name = kEmbeddingName;
    return;
  }
  config.tie_word_embeddings = false;
  specs = TensorSpecs(config);
}

std::vector<std::string> OtherHeads(const SafetensorsHeader& header) {
  std::vector<std::string> heads;
  for (const TensorInfo& tensor : header.tensors) {
    const std::string_view head = OtherHeadOf(CanonicalName(tensor.name));
    if (head.empty() || std::find(heads.begin(), heads.end(), head) != heads.end()) continue;
    heads.emplace_back(head);
  }
  return heads;
}

Result<std::vector<TensorPlan>> PlanTensors(const SafetensorsHeader& header,
                                            const ModelConfig& config,
                                            std::span<const TensorSpec> specs,
                                            WeightFormat float_format) {
  GPT2_TRY(CheckFormat(header, config));
  std::map<std::string_view, const TensorSpec*> specs_by_name;
  for (const TensorSpec& spec : specs) specs_by_name[spec.name] = &spec;
  const auto find_spec = [&](std::string_view name) {
    const auto found = specs_by_name.find(name);
    return found == specs_by_name.end() ? nullptr : found->second;
  };
  const Planner planner(config, float_format);
  TensorsByName seen;
  std::vector<TensorPlan> plans;
  for (const TensorInfo& tensor : header.tensors) {
    const std::string name = CanonicalName(tensor.name);
    if (const auto [first, is_new] = seen.emplace(name, &tensor); !is_new) {
      return CorruptWeights(Concat("tensor ", Quoted(name), " is listed twice, as ",
                                   Quoted(first->second->name), " and as ", Quoted(tensor.name)));
    }
    // A Hub's floats are quantized here, with our own scales.
    const bool may_be_scales =
        config.weights != StoredWeights::kHub && name.ends_with(kScaleSuffix);
    const std::string owner =
        may_be_scales ? name.substr(0, name.size() - std::string_view(kScaleSuffix).size()) : name;
    const TensorSpec* const spec = find_spec(owner);
    GPT2_ASSIGN(TensorPlan plan, spec == nullptr ? planner.PlanIgnored(tensor)
                                 : may_be_scales
                                     ? planner.PlanScales(tensor, Find(seen, owner), *spec)
                                     : planner.PlanParameter(tensor, *spec));
    plans.push_back(plan);
  }
  GPT2_TRY(CheckComplete(seen, specs));
  return plans;
}

}  // namespace gpt2
