#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "weights_tools/commands.h"
#include "weights_tools/model_folder.h"
#include "weights_tools/standard_streams.h"

namespace gpt2::tools {
namespace {

// How far `row` of a matrix or table is from the original's, summed over rows.
struct TensorError {
  double squared_error = 0;
  double squared_norm = 0;
  double largest = 0;

  double Relative() const { return squared_norm > 0 ? std::sqrt(squared_error / squared_norm) : 0; }
};

void ReadSlotRow(const TensorSlot& slot, std::size_t row, std::vector<float>& values) {
  values.resize(slot.cols);
  if (slot.matrix != nullptr) {
    slot.matrix->ReadRow(row, values);
  } else {
    const float* start = slot.floats->data() + row * slot.cols;
    values.assign(start, start + slot.cols);
  }
}

TensorError Compare(const TensorSlot& slot, const TensorSlot& original) {
  TensorError error;
  std::vector<float> ours, theirs;
  for (std::size_t row = 0; row < slot.rows; ++row) {
    ReadSlotRow(slot, row, ours);
    ReadSlotRow(original, row, theirs);
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const double difference = static_cast<double>(ours[i]) - theirs[i];
      error.squared_error += difference * difference;
      error.squared_norm += static_cast<double>(theirs[i]) * theirs[i];
      error.largest = std::max(error.largest, std::fabs(difference));
    }
  }
  return error;
}

std::string FormatOf(const TensorSlot& slot) {
  const bool is_quantized = slot.matrix != nullptr && slot.matrix->format() != WeightFormat::kF32;
  return is_quantized ? std::string(WeightFormatName(slot.matrix->format())) : "float";
}

Result<Json> CompareTensors(LoadedModel& model, const std::string& original_folder) {
  GPT2_ASSIGN(LoadedModel original, LoadModel(original_folder, WeightFormat::kF32));
  // TensorSlots sizes the blocks, which are there already: it changes nothing here.
  const std::vector<TensorSlot> slots = TensorSlots(*model.weights);
  const std::vector<TensorSlot> others = TensorSlots(*original.weights);
  if (slots.size() != others.size()) {
    return Error{ErrorCode::kInvalidArgument, original_folder + " is another model"};
  }
  Json errors = Json::array();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].rows != others[i].rows || slots[i].cols != others[i].cols) {
      return Error{ErrorCode::kInvalidArgument,
                   original_folder + " is another model: " + slots[i].name + " has another shape"};
    }
    const TensorError error = Compare(slots[i], others[i]);
    errors.push_back({{"tensor", slots[i].name},
                      {"format", FormatOf(slots[i])},
                      {"relative_rms_error", error.Relative()},
                      {"max_abs_error", error.largest}});
  }
  return errors;
}

Json ConfigJson(const Config& c) {
  return {{"n_layer", c.n_layer},
          {"n_head", c.n_head},
          {"n_embd", c.n_embd},
          {"n_inner", c.n_inner},
          {"n_positions", c.n_positions},
          {"vocab_size", c.vocab_size},
          {"activation", c.activation == Activation::kGeluTanh ? "gelu_new" : "gelu"},
          {"tie_word_embeddings", c.tie_word_embeddings}};
}

}  // namespace

Status Inspect(const std::string& folder, const std::string& original, bool json) {
  if (json) GPT2_TRY(CheckPrintable("MODEL", folder));
  GPT2_ASSIGN(LoadedModel model, LoadModel(folder, WeightFormat::kF32));
  const std::set<std::string> present = PresentSlots(model);
  Json parts = Json::object();
  for (const TensorSlot& slot : TensorSlots(*model.weights)) {
    if (!present.contains(slot.name)) continue;
    const std::size_t before = parts.value(slot.part, std::size_t{0});
    parts[slot.part] = before + slot.rows * slot.cols;
  }
  Json result = {{"model", folder},
                 {"config", ConfigJson(model.config.config)},
                 {"weights", StoredWeightsName(model.config.weights)},
                 {"parameters", {{"total", model.weights->parameter_count}, {"parts", parts}}},
                 {"file_bytes", model.file_bytes},
                 {"memory_bytes", model.weights->bytes}};
  if (!original.empty()) {
    GPT2_ASSIGN(result["errors"], CompareTensors(model, original));
  }
  if (json) {
    std::printf("%s\n", result.dump().c_str());
    return Done{};
  }
  std::printf("%s\n", folder.c_str());
  for (const auto& [key, value] : result["config"].items()) {
    std::printf("  %-20s %s\n", key.c_str(), value.dump().c_str());
  }
  std::printf("  %-20s %s\n", "weights", result["weights"].get<std::string>().c_str());
  std::printf("parameters\n");
  for (const auto& [part, count] : parts.items()) {
    std::printf("  %-20s %14zu\n", part.c_str(), count.get<std::size_t>());
  }
  std::printf("  %-20s %14zu\n", "total", model.weights->parameter_count);
  std::printf("bytes\n  %-20s %14llu\n  %-20s %14zu\n", "file",
              static_cast<unsigned long long>(model.file_bytes), "memory", model.weights->bytes);
  if (result.contains("errors")) {
    std::printf("error against %s\n  %-28s %-6s %12s %12s\n", original.c_str(), "tensor", "format",
                "relative rms", "largest");
    for (const Json& row : result["errors"]) {
      std::printf("  %-28s %-6s %12.3e %12.3e\n", row["tensor"].get<std::string>().c_str(),
                  row["format"].get<std::string>().c_str(), row["relative_rms_error"].get<double>(),
                  row["max_abs_error"].get<double>());
    }
  }
  return Done{};
}

}  // namespace gpt2::tools
