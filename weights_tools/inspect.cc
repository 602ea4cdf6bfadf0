// `gpt2-weights inspect`: lists the contents of a model folder, and its error against the original.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/format/config_json.h"
#include "engine/format/json.h"
#include "engine/format/stored_weights.h"
#include "engine/generate/options.h"
#include "engine/model/config.h"
#include "engine/model/matrix.h"
#include "engine/model/weight_format.h"
#include "engine/model/weights.h"
#include "engine/text/quoted.h"
#include "weights_tools/adapters.h"
#include "weights_tools/commands.h"
#include "weights_tools/model_folder.h"
#include "weights_tools/standard_streams.h"

namespace gpt2::tools {
namespace {

// The error of `row` of a matrix or table against the original's, summed over rows.
struct TensorError {
  double squared_error = 0;
  double squared_norm = 0;
  double largest = 0;

  double Relative() const { return squared_norm > 0 ? std::sqrt(squared_error / squared_norm) : 0; }
};

void ReadRow(const TensorSpec& spec, const Weights& weights, std::size_t row,
             std::vector<float>& values) {
  const ConstTensorRef tensor = Bind(spec, weights);
  values.resize(spec.cols);
  if (spec.is_matrix()) {
    tensor.matrix->ReadRow(row, values);
  } else {
    const float* start = tensor.floats->data() + row * spec.cols;
    values.assign(start, start + spec.cols);
  }
}

TensorError Compare(const TensorSpec& spec, const Weights& weights, const Weights& original) {
  TensorError error;
  std::vector<float> ours, theirs;
  for (std::size_t row = 0; row < spec.rows; ++row) {
    ReadRow(spec, weights, row, ours);
    ReadRow(spec, original, row, theirs);
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const double difference = static_cast<double>(ours[i]) - theirs[i];
      error.squared_error += difference * difference;
      error.squared_norm += static_cast<double>(theirs[i]) * theirs[i];
      error.largest = std::max(error.largest, std::fabs(difference));
    }
  }
  return error;
}

std::string FormatOf(const Matrix* matrix) {
  const bool is_quantized = matrix != nullptr && InfoOf(matrix->format()).has_codes();
  return is_quantized ? std::string(WeightFormatName(matrix->format())) : "float";
}

std::string ShownShape(const TensorSpec& spec) {
  return "[" + std::to_string(spec.rows) + ", " + std::to_string(spec.cols) + "]";
}

Result<Json> CompareTensors(const LoadedModel& model, const std::string& original_folder) {
  GPT2_ASSIGN(const LoadedModel original, LoadModel(original_folder, WeightFormat::kF32));
  const std::vector<TensorSpec> specs = TensorSpecs(model.weights->config);
  const std::vector<TensorSpec> others = TensorSpecs(original.weights->config);
  if (specs.size() != others.size()) {
    return Error{ErrorCode::kInvalidArgument,
                 original_folder + " is another model: expected " + std::to_string(specs.size()) +
                     " tensors, found " + std::to_string(others.size())};
  }
  Json errors = Json::array();
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const TensorSpec& spec = specs[i];
    if (spec.rows != others[i].rows || spec.cols != others[i].cols) {
      return Error{ErrorCode::kInvalidArgument,
                   original_folder + " is another model: " + spec.name + " has the shape " +
                       ShownShape(others[i]) + ", expected " + ShownShape(spec)};
    }
    const TensorError error = Compare(spec, *model.weights, *original.weights);
    errors.push_back({{"tensor", spec.name},
                      {"format", FormatOf(Bind(spec, std::as_const(*model.weights)).matrix)},
                      {"relative_rms_error", error.Relative()},
                      {"max_abs_error", error.largest}});
  }
  return errors;
}

Json ConfigJson(const Config& c) {
  return {{"n_layer", c.n_layer},
          {"n_head", c.n_head},
          {"num_key_value_heads", c.n_kv_head()},
          {"n_embd", c.n_embd},
          {"n_inner", c.n_inner},
          {"n_positions", c.n_positions},
          {"vocab_size", c.vocab_size},
          {"activation", ActivationName(c.activation)},
          {"tie_word_embeddings", c.tie_word_embeddings}};
}

// The default options of a generation.
Json DefaultsJson(const GenerateOptions& defaults) {
  Json json = Json::object();
  for (const NumberOption& option : NumberOptions()) {
    if (option.hub_name.empty()) continue;
    const double value = option.get(defaults);
    json[std::string(option.name)] = value;
    if (option.is_whole) json[std::string(option.name)] = static_cast<std::int64_t>(value);
  }
  return json;
}

}  // namespace

Status Inspect(const std::string& folder, const std::vector<AdapterFolder>& adapters,
               const std::string& original, bool json) {
  if (json) GPT2_TRY(CheckPrintable("MODEL", folder));
  GPT2_ASSIGN(const LoadedModel model,
              LoadModel(folder, WeightFormat::kF32, std::nullopt, adapters));
  const std::set<std::string> present = PresentTensors(model);
  Json parts = Json::object();
  for (const TensorSpec& spec : TensorSpecs(model.weights->config)) {
    if (!present.contains(spec.name)) continue;
    const std::size_t before = parts.value(spec.part, std::size_t{0});
    parts[spec.part] = before + spec.rows * spec.cols;
  }
  const std::optional<StoredWeights> stored = model.config.weights;
  Json result = {{"model", folder},
                 {"config", ConfigJson(model.config.config)},
                 {"weights", stored ? StoredWeightsName(*stored) : "hub"},
                 {"parameters", {{"total", model.weights->parameter_count}, {"parts", parts}}},
                 {"defaults", DefaultsJson(model.defaults)},
                 {"warnings", model.warnings},
                 {"file_bytes", model.file_bytes},
                 {"memory_bytes", model.weights->bytes}};
  if (!original.empty()) {
    GPT2_ASSIGN(result["errors"], CompareTensors(model, original));
  }
  if (json) {
    PrintJson(result);
    return Done{};
  }
  PrintNotes(model.warnings);
  std::printf("%s\n", Visible(folder).c_str());
  for (const auto& [key, value] : result["config"].items()) {
    std::printf("  %-20s %s\n", key.c_str(), value.dump().c_str());
  }
  std::printf("  %-20s %s\n", "weights", result["weights"].get<std::string>().c_str());
  std::printf("defaults\n");
  for (const auto& [name, value] : result["defaults"].items()) {
    std::printf("  %-20s %s\n", name.c_str(), value.dump().c_str());
  }
  std::printf("parameters\n");
  for (const auto& [part, count] : parts.items()) {
    std::printf("  %-20s %14zu\n", part.c_str(), count.get<std::size_t>());
  }
  std::printf("  %-20s %14zu\n", "total", model.weights->parameter_count);
  std::printf("bytes\n  %-20s %14llu\n  %-20s %14zu\n", "file",
              static_cast<unsigned long long>(model.file_bytes), "memory", model.weights->bytes);
  if (result.contains("errors")) {
    std::printf("difference from %s\n  %-28s %-6s %12s %12s\n", Visible(original).c_str(), "tensor",
                "format", "relative rms", "largest");
    for (const Json& row : result["errors"]) {
      std::printf("  %-28s %-6s %12.3e %12.3e\n", row["tensor"].get<std::string>().c_str(),
                  row["format"].get<std::string>().c_str(), row["relative_rms_error"].get<double>(),
                  row["max_abs_error"].get<double>());
    }
  }
  return Done{};
}

}  // namespace gpt2::tools
