#include "engine/format/weight_reader.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/format/config_json.h"
#include "engine/format/safetensors.h"
#include "engine/format/tensor_row.h"
#include "engine/format/weight_plan.h"
#include "engine/model/matrix.h"
#include "engine/model/weight_format.h"
#include "engine/model/weights.h"
#include "engine/text/quoted.h"

namespace gpt2 {
namespace {

// Empties a container. Assigning {} to it would keep its memory.
template <typename Container>
void GiveBack(Container& container) {
  Container().swap(container);
}

}  // namespace

WeightReader::WeightReader(ModelConfig config)
    : config_(std::move(config)),
      weights_(std::make_unique<Weights>(config_.config)),
      specs_(TensorSpecs(config_.config)) {
  if (config_.weights) return;
  failure_ = Error{ErrorCode::kUnsupported,
                   "config.json has no \"quantization_config\": convert the model first, as with "
                   "`npx gpt2-wasm convert`"};
}

Status WeightReader::Feed(std::span<const std::byte> bytes) {
  if (failure_) return *failure_;
  const Status taken = Take(bytes);
  if (!taken.ok()) return Fail(taken.error());
  return Done{};
}

Error WeightReader::Fail(const Error& error) {
  failure_ = error;
  GiveBack(plans_);
  GiveBack(specs_);
  weights_.reset();
  header_ = {};
  GiveBack(pending_);
  return error;
}

Status WeightReader::Take(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (!has_header_) {
      GPT2_TRY(TakeHeader(bytes));
    } else if (current_ < plans_.size()) {
      GPT2_TRY(TakeTensor(bytes));
    } else {
      return CorruptWeights(Concat(bytes.size(), " bytes follow the last tensor"));
    }
  }
  return Done{};
}

Status WeightReader::TakeHeader(std::span<const std::byte>& bytes) {
  const std::size_t wanted = kSafetensorsPrefix + header_length_;
  const std::size_t take = std::min(wanted - pending_.size(), bytes.size());
  pending_.append(reinterpret_cast<const char*>(bytes.data()), take);
  bytes = bytes.subspan(take);
  if (pending_.size() < wanted) return Done{};
  const std::size_t most_tensors = MostTensors(specs_, config_.config);
  if (header_length_ == 0) {
    GPT2_ASSIGN(header_length_, ReadSafetensorsPrefix(pending_, MostHeaderBytes(most_tensors)));
    return Done{};
  }
  const std::string_view json = std::string_view(pending_).substr(kSafetensorsPrefix);
  GPT2_ASSIGN(header_, ReadSafetensorsHeader(json, most_tensors));
  may_be_tied_ = config_.config.tie_word_embeddings;
  SettleHead(header_, config_.config, specs_);
  may_be_tied_ = may_be_tied_ && !config_.config.tie_word_embeddings;
  weights_->config = config_.config;
  GPT2_ASSIGN(plans_, PlanTensors(header_, config_, specs_));
  has_header_ = true;
  GiveBack(pending_);
  return Done{};
}

// Takes whole rows directly from `bytes`; only a split row is joined first.
Status WeightReader::TakeTensor(std::span<const std::byte>& bytes) {
  const TensorPlan& plan = plans_[current_];
  if (!plan.is_scales && next_row_ == 0 && pending_.empty()) {
    GPT2_TRY(Allocate(*plan.spec, plan.format, *weights_));
  }
  while (next_row_ < plan.rows && !bytes.empty()) {
    if (pending_.empty() && bytes.size() >= plan.row_bytes) {
      GPT2_TRY(TakeRow(plan, next_row_++, bytes.data(), *weights_));
      bytes = bytes.subspan(plan.row_bytes);
      continue;
    }
    const std::size_t take = std::min(plan.row_bytes - pending_.size(), bytes.size());
    pending_.append(reinterpret_cast<const char*>(bytes.data()), take);
    bytes = bytes.subspan(take);
    if (pending_.size() == plan.row_bytes) {
      const auto* const row = reinterpret_cast<const std::byte*>(pending_.data());
      GPT2_TRY(TakeRow(plan, next_row_++, row, *weights_));
      pending_.clear();
    }
  }
  if (next_row_ < plan.rows) return Done{};
  ++current_;
  next_row_ = 0;
  return Done{};
}

Status WeightReader::CheckWhole() {
  if (!has_header_) {
    return CorruptWeights(
        Concat("the file ends inside its header, after ", pending_.size(), " bytes"));
  }
  if (current_ == plans_.size()) return Done{};
  const TensorPlan& plan = plans_[current_];
  return CorruptWeights(Concat("the file ends inside tensor ", Quoted(plan.tensor->name), ", row ",
                               next_row_, " of ", plan.rows));
}

Result<std::size_t> WeightReader::CompleteLayers() {
  if (failure_) return *failure_;
  if (!has_header_) return std::size_t{0};
  std::size_t layers = config_.config.n_layer;
  for (const TensorPlan& plan : std::span(plans_).subspan(current_)) {
    layers = std::min(layers, plan.spec->layer);
  }
  const Status complete = CompleteVectors(layers);
  if (!complete.ok()) return Fail(complete.error());
  return layers;
}

// Sets parameters to zero that the checkpoint lacks in the first `layers`.
Status WeightReader::CompleteVectors(std::size_t layers) {
  for (const TensorSpec& spec : specs_) {
    const TensorRef tensor = Bind(spec, *weights_);
    if (spec.layer >= layers || spec.is_matrix() || tensor.floats->size() != 0) continue;
    GPT2_TRY(Allocate(spec, WeightFormat::kF32, *weights_));
  }
  return Done{};
}

// Frees the memory of a head that equals the embedding.
void WeightReader::TieEqualHead() {
  if (!may_be_tied_) return;
  if (weights_->lm_head == weights_->wte) {
    config_.config.tie_word_embeddings = weights_->config.tie_word_embeddings = true;
    weights_->lm_head = {};
    return;
  }
  config_.warnings.emplace_back(
      "config.json sets \"tie_word_embeddings\", but lm_head.weight differs from wte.weight: "
      "the engine uses lm_head.weight, as transformers 5 does");
}

void WeightReader::CountWeights() {
  for (const TensorPlan& plan : plans_) {
    if (plan.is_scales) continue;
    const TensorRef tensor = Bind(*plan.spec, *weights_);
    if (tensor.matrix != nullptr && tensor.matrix->rows() == 0) continue;  // it is tied after all
    weights_->parameter_count += plan.spec->rows * plan.spec->cols;
  }
  for (const TensorSpec& spec : specs_) {
    const TensorRef tensor = Bind(spec, *weights_);
    weights_->bytes += spec.is_matrix() ? tensor.matrix->bytes() : tensor.floats->bytes();
  }
}

Result<std::unique_ptr<Weights>> WeightReader::Finish() {
  if (failure_) return *failure_;
  const Status whole = CheckWhole();
  if (!whole.ok()) return Fail(whole.error());
  const Status complete = CompleteVectors(config_.config.n_layer + 1);
  if (!complete.ok()) return Fail(complete.error());
  TieEqualHead();
  CountWeights();
  failure_ = Error{ErrorCode::kInvalidArgument, "the weights have been taken already"};
  return std::move(weights_);
}

}  // namespace gpt2
