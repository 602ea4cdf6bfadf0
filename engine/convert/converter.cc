#include "engine/convert/converter.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/convert/adapter.h"
#include "engine/convert/block_types.h"
#include "engine/convert/gguf_model.h"
#include "engine/convert/gguf_reader.h"
#include "engine/convert/merge_plan.h"
#include "engine/convert/source_tensor.h"
#include "engine/convert/stored_tensor.h"
#include "engine/convert/torch_file.h"
#include "engine/convert/torch_stream.h"
#include "engine/format/config_json.h"
#include "engine/format/stored_weights.h"
#include "engine/model/weights.h"

namespace gpt2 {
namespace {

constexpr std::string_view kSafetensorsName = "model.safetensors: ";

}  // namespace

Result<std::unique_ptr<Converter>> Converter::OfSafetensors(std::string_view config_json,
                                                            std::string_view heads,
                                                            StoredWeights weights,
                                                            std::vector<Adapter> adapters) {
  std::unique_ptr<Converter> converter(new Converter(weights, std::move(adapters)));
  GPT2_TRY(converter->SetConfig(config_json));
  GPT2_TRY(converter->PlanMerge());
  GPT2_TRY(converter->SetHeads(heads));
  return converter;
}

Result<std::unique_ptr<Converter>> Converter::OfTorch(std::string_view config_json,
                                                      std::vector<TorchFile> files,
                                                      StoredWeights weights,
                                                      std::vector<Adapter> adapters) {
  std::unique_ptr<Converter> converter(new Converter(weights, std::move(adapters)));
  GPT2_TRY(converter->SetConfig(config_json));
  GPT2_TRY(converter->PlanMerge());
  const bool is_tied = converter->config_.config.tie_word_embeddings;
  GPT2_ASSIGN(converter->torch_, TorchStream::Create(std::move(files), is_tied));
  const Status status = converter->SetHeads(converter->torch_->heads());
  if (!status.ok()) return converter->Named(status.error());
  return converter;
}

std::unique_ptr<Converter> Converter::OfGguf(StoredWeights weights, std::vector<Adapter> adapters) {
  std::unique_ptr<Converter> converter(new Converter(weights, std::move(adapters)));
  converter->is_gguf_ = true;
  converter->gguf_.emplace();
  return converter;
}

// The start of an error message.
std::string_view Converter::FileName() const {
  if (torch_) return "pytorch_model.bin: ";
  return is_gguf_ ? "the GGUF file: " : kSafetensorsName;
}

// Adds the name of the existing file to `error` of a safetensors reader or of a stored tensor.
Error Converter::Named(const Error& error) const {
  if (error.message.starts_with("tensor ")) {
    return Error{error.code, Concat(FileName(), error.message)};
  }
  if (!torch_ || !error.message.starts_with(kSafetensorsName)) return error;
  return Error{error.code,
               Concat(FileName(), std::string_view(error.message).substr(kSafetensorsName.size()))};
}

// The file's name of the current tensor.
std::string Converter::TensorName() const {
  const std::string& name = tensor().spec->name;
  return is_gguf_ ? GgufName(name) : name;
}

Status Converter::SetConfig(std::string_view config_json) {
  GPT2_ASSIGN(config_, ReadConfigJson(config_json));
  if (config_.weights) {
    const std::string_view instead = adapters_.empty()
                                         ? ": convert the original model instead"
                                         : ": merge the adapter into the original model instead";
    return Error{ErrorCode::kUnsupported, Concat("config.json: the model is already converted to ",
                                                 StoredWeightsName(*config_.weights), instead)};
  }
  specs_ = TensorSpecs(config_.config);
  config_json_ = config_json;
  return Done{};
}

Status Converter::SetHeads(std::string_view heads) {
  heads_ = heads;
  std::size_t end = 0;
  while (end < heads.size()) {
    GPT2_ASSIGN(const std::string_view head,
                SafetensorsHead(heads.substr(end), MostSourceTensors(specs_, config_.config)));
    head_ends_.push_back(end += head.size());
  }
  return heads.empty() ? Status(Done{}) : PlanSafetensors();
}

// Makes the plan from everything before the first tensor.
Status Converter::PlanSafetensors() {
  folder_.emplace();
  GPT2_TRY(ReadSafetensorsTensors(heads_, head_ends_, config_, specs_, tensors_));
  return PlanOutput();
}

// The same for a GGUF file.
Status Converter::PlanGguf() {
  const GgufHeader& header = gguf_->header();
  GPT2_ASSIGN(const std::string config, GgufConfig(header));
  const Status status = SetConfig(config);
  if (!status.ok()) {
    Error error = status.error();
    error.message.insert(0, "the GGUF file's metadata as ");
    return error;
  }
  GPT2_TRY(PlanMerge());
  folder_.emplace();
  GPT2_ASSIGN(folder_->vocabulary, ReadGgufVocabulary(header));
  GPT2_TRY(ReadGgufTensors(header, specs_, tensors_));
  spare_ = GgufAlignment(header) - 1;
  gguf_.reset();
  head_ends_.push_back(heads_taken_ = 0);
  return PlanOutput();
}

// Plans how the adapters change the model, once its config is known.
Status Converter::PlanMerge() {
  if (adapters_.empty()) return Done{};
  GPT2_ASSIGN(merge_, MergePlan::Make(std::exchange(adapters_, {}), config_.config, specs_));
  if (merge_.unties_head()) own_head_ = HeadSpec(config_.config);
  return Done{};
}

// Checks that the adapters fit the model, and appends the tensors that they add.
Status Converter::AddMergedTensors() {
  for (const SourceTensor& tensor : tensors_) {
    const bool is_float = tensor.type == BlockType::kF32 || tensor.type == BlockType::kF16 ||
                          tensor.type == BlockType::kBF16;
    if (is_float || tensor.spec == nullptr || !merge_.Changes(*tensor.spec)) continue;
    return Error{
        ErrorCode::kUnsupported,
        Concat(FileName(), "tensor \"", GgufName(tensor.spec->name), "\" is quantized to ",
               ShapeOf(tensor.type).name,
               ", but an adapter can be merged only into floats: use the original model, or a "
               "GGUF file in F16")};
  }
  const auto add = [&](const TensorSpec& spec) {
    const bool is_there =
        std::any_of(tensors_.begin(), tensors_.end(), [&](const SourceTensor& tensor) {
          return tensor.spec != nullptr && tensor.spec->name == spec.name;
        });
    if (is_there || !merge_.Adds(spec)) return;
    tensors_.push_back({.spec = &spec, .rows = spec.rows, .file = file_count() - 1});
  };
  std::for_each(specs_.begin(), specs_.end(), add);
  if (own_head_) add(*own_head_);
  return Done{};
}

Status Converter::PlanOutput() {
  GPT2_TRY(AddMergedTensors());
  std::vector<StoredTensor> stored;
  for (const SourceTensor& tensor : tensors_) {
    if (tensor.spec != nullptr) StoreTensor(*tensor.spec, weights_, stored);
  }
  // Before the closing bracket: it is an object with members.
  const std::string quantization = QuantizationConfig(weights_, config_.other_heads);
  folder_->config = config_json_;
  folder_->config.insert(config_json_.rfind('}'),
                         ",\n  \"quantization_config\": " + quantization + "\n");
  start_ = StoredHeader(stored, weights_);
  folder_->weight_bytes = start_.size();
  for (const StoredTensor& part : stored) folder_->weight_bytes += part.Bytes();
  return Done{};
}

}  // namespace gpt2
