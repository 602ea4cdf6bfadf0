#include "engine/format/weight_plan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

std::string ShapeText(std::span<const std::uint64_t> shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

Error Missing(const std::string& name, const std::string& what) {
  return Error{ErrorCode::kNotFound,
               Concat("model.safetensors: tensor \"", name, "\" is missing", what)};
}

// What `tensor` must be: the parameter `spec`, or its scales.
Status CheckParameter(const TensorInfo& tensor, const TensorPlan& plan, StoredWeights weights) {
  const TensorSpec& spec = *plan.spec;
  if (plan.is_scales) {
    return CheckTensor(tensor, DType::kBF16, {spec.rows, CeilDiv(spec.cols, kGroup)});
  }
  std::vector<std::uint64_t> shape = {spec.rows, spec.cols};
  if (spec.is_vector()) shape = {spec.cols};
  if (InfoOf(plan.format).has_codes()) shape[1] = CodeRowBytes(plan.format, spec.cols);
  return CheckTensor(tensor, StoredDType(weights, spec), shape);
}

// The file must have the version that its format in config.json has.
Status CheckFormat(const SafetensorsHeader& header, StoredWeights weights) {
  const auto metadata = [&](const char* key) {
    const auto found = header.metadata.find(key);
    return found == header.metadata.end() ? std::string() : found->second;
  };
  if (metadata(kFormatKey) != kFormatName) {
    return CorruptWeights(
        "the weights are not converted, but config.json has a quantization_config: the files "
        "belong to different models");
  }
  const std::string version = metadata(kVersionKey);
  if (version != kFormatVersion && version != kQ4FormatVersion) {
    return Error{ErrorCode::kUnsupported,
                 Concat("model.safetensors: version ", Quoted(version), ", expected ",
                        kFormatVersion, " or ", kQ4FormatVersion)};
  }
  const char* const expected = InfoOf(weights).version;
  if (version == expected) return Done{};
  return CorruptWeights(Concat("version ", version, ", but config.json says \"",
                               StoredWeightsName(weights), "\", which is version ", expected));
}

}  // namespace

std::string CanonicalName(const std::string& tensor_name) {
  constexpr std::string_view kPrefix = "transformer.";
  return tensor_name.starts_with(kPrefix) ? tensor_name.substr(kPrefix.size()) : tensor_name;
}

std::size_t MostTensors(std::span<const TensorSpec> specs, const Config& config) {
  const std::size_t tied_head = config.tie_word_embeddings ? 2 : 0;  // and its scales
  const auto scales = std::count_if(specs.begin(), specs.end(),
                                    [](const TensorSpec& spec) { return spec.is_matrix(); });
  return specs.size() + static_cast<std::size_t>(scales) + tied_head;
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

Status CheckTensor(const TensorInfo& tensor, DType dtype, const std::vector<std::uint64_t>& shape) {
  const bool is_any = dtype == DType::kOther;
  const bool is_type = is_any ? DTypeSize(tensor.dtype) >= 2 : tensor.dtype == dtype;
  if (is_type && tensor.shape == shape) return Done{};
  const std::string_view type = is_any ? "F32, F16 or BF16" : DTypeName(dtype);
  Error error = CorruptWeights(Concat("tensor ", Quoted(tensor.name), " is ", tensor.Describe(),
                                      ", config.json requires ", type, " ", ShapeText(shape)));
  // Float64 and similar types from a Hub are well-formed, but not supported.
  if (is_any && tensor.shape == shape) error.code = ErrorCode::kUnsupported;
  return error;
}

Error UnknownTensor(const TensorInfo& tensor) {
  return CorruptWeights(Concat("tensor ", Quoted(tensor.name), " does not belong to a GPT-2"));
}

TensorsByName::TensorsByName(std::span<const TensorSpec> specs) : specs_(specs) {
  for (const TensorSpec& spec : specs) specs_by_name_[spec.name] = &spec;
}

Status TensorsByName::Add(const std::string& name, const TensorInfo& tensor) {
  const auto [first, is_new] = tensors_.emplace(name, &tensor);
  if (is_new) return Done{};
  return CorruptWeights(Concat("tensor ", Quoted(name), " is listed twice, as ",
                               Quoted(first->second->name), " and as ", Quoted(tensor.name)));
}

const TensorSpec* TensorsByName::SpecOf(std::string_view name) const {
  const auto found = specs_by_name_.find(name);
  return found == specs_by_name_.end() ? nullptr : found->second;
}

const TensorInfo* TensorsByName::Find(std::string_view name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : found->second;
}

Status TensorsByName::CheckComplete() const {
  for (const TensorSpec& spec : specs_) {
    const TensorInfo* const tensor = Find(spec.name);
    if (tensor == nullptr && spec.is_required()) {
      return Missing(spec.name,
                     ", expected " + (spec.is_vector() ? ShapeText({{spec.cols}})
                                                       : ShapeText({{spec.rows, spec.cols}})));
    }
    const bool has_codes = tensor != nullptr && FormatOfCodes(tensor->dtype) != nullptr;
    const std::string scales = spec.name + kScaleSuffix;
    if (has_codes && Find(scales) == nullptr) {
      return Missing(scales, ", the scales of \"" + spec.name + "\"");
    }
  }
  return Done{};
}

Result<std::vector<TensorPlan>> PlanTensors(const SafetensorsHeader& header,
                                            const ModelConfig& config,
                                            std::span<const TensorSpec> specs) {
  const StoredWeights weights = *config.weights;
  GPT2_TRY(CheckFormat(header, weights));
  TensorsByName tensors(specs);
  std::vector<TensorPlan> plans;
  for (const TensorInfo& tensor : header.tensors) {
    const std::string name = CanonicalName(tensor.name);
    GPT2_TRY(tensors.Add(name, tensor));
    const bool is_scales = name.ends_with(kScaleSuffix);
    const std::string owner =
        is_scales ? name.substr(0, name.size() - std::string_view(kScaleSuffix).size()) : name;
    const TensorSpec* const spec = tensors.SpecOf(owner);
    if (spec == nullptr) return UnknownTensor(tensor);
    TensorPlan plan{.tensor = &tensor, .spec = spec, .is_scales = is_scales};
    if (spec->is_matrix()) plan.format = MatrixFormat(weights, *spec);
    // The matrix of the codes stores the scales, too.
    if (is_scales && (!InfoOf(plan.format).has_codes() || tensors.Find(owner) == nullptr)) {
      return CorruptWeights(
          Concat("tensor ", Quoted(tensor.name), " has no codes \"", owner, "\" before it"));
    }
    GPT2_TRY(CheckParameter(tensor, plan, weights));
    // The shape is right, and so bounded by config.json.
    plan.rows = spec->is_vector() ? 1 : static_cast<std::size_t>(tensor.shape[0]);
    plan.row_bytes = static_cast<std::size_t>(tensor.end - tensor.begin) / plan.rows;
    plans.push_back(plan);
  }
  GPT2_TRY(tensors.CheckComplete());
  return plans;
}

}  // namespace gpt2
