// LoRA adapters: any two files end in an error that names the adapter, or in a merged model that
// the engine loads. A sound adapter is merged, and chunks of the model change nothing.
#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/convert/adapter.h"
#include "engine/convert/converter.h"
#include "tests/fuzz/support/any_json.h"
#include "tests/fuzz/support/fuzz_model.h"
#include "tests/fuzz/support/stream.h"

namespace gpt2::fuzz {
namespace {

struct AdapterFiles {
  Json config;
  std::vector<FileTensor> tensors;
  bool is_sound = true;
};

std::string RandomFloats(std::uint64_t seed, std::size_t count) {
  const std::string random = RandomBytes(seed, count);
  std::string bytes;
  for (const char c : random) {
    const float value = static_cast<float>(c) / 1000.0f;
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return bytes;
}

// LoRA factors for some matrices of a model of `config`, and other tensors as a whole.
AdapterFiles SoundAdapter(FuzzedDataProvider& input, const Config& config) {
  const auto rank = input.ConsumeIntegralInRange<std::uint64_t>(1, 4);
  AdapterFiles files;
  files.config = {{"peft_type", "LORA"},
                  {"r", rank},
                  {"lora_alpha", input.ConsumeIntegralInRange<int>(0, 32)},
                  {"use_rslora", input.ConsumeBool()},
                  {"target_modules", input.ConsumeBool() ? Json(".*") : Json::array()}};
  const bool is_list = files.config["target_modules"].is_array();
  const std::string prefix =
      input.PickValueInArray({"base_model.model.transformer.", "base_model.model.", ""});
  for (const TensorSpec& spec : TensorSpecs(config)) {
    const std::string module = spec.name.substr(0, spec.name.rfind('.'));
    if (spec.is_block_matrix() && input.ConsumeBool()) {
      const auto add = [&](const char* factor, std::uint64_t rows, std::uint64_t cols) {
        files.tensors.push_back(
            {prefix + module + factor, "F32", {rows, cols}, RandomFloats(rows, rows * cols)});
      };
      add(".lora_A.weight", rank, spec.cols);
      add(".lora_B.weight", spec.rows, rank);
      if (is_list) files.config["target_modules"].push_back(module);
    } else if (spec.is_vector() && spec.is_required() && input.ConsumeBool()) {
      files.tensors.push_back({prefix + spec.name, "F32", {spec.cols}, RandomFloats(1, spec.cols)});
    }
  }
  // Without names PEFT chooses the modules itself.
  files.is_sound = !files.tensors.empty() && (!is_list || !files.config["target_modules"].empty());
  if (files.is_sound && input.ConsumeBool()) {
    files.tensors.push_back({"base_model.model.lm_head.weight",
                             "F32",
                             {config.vocab_size, config.n_embd},
                             RandomFloats(2, config.vocab_size * config.n_embd)});
    files.config["modules_to_save"] = {"lm_head"};
  }
  return files;
}

constexpr const char* kFields[] = {"peft_type",
                                   "task_type",
                                   "r",
                                   "lora_alpha",
                                   "use_rslora",
                                   "rank_pattern",
                                   "alpha_pattern",
                                   "target_modules",
                                   "exclude_modules",
                                   "layers_to_transform",
                                   "layers_pattern",
                                   "modules_to_save",
                                   "bias",
                                   "init_lora_weights",
                                   "ensure_weight_tying",
                                   "use_dora",
                                   "fan_in_fan_out"};
constexpr const char* kNames[] = {
    "base_model.model.lm_head.weight",
    "base_model.model.transformer.wte.weight",
    "base_model.model.transformer.h.0.attn.c_attn.lora_A.weight",
    "base_model.model.transformer.h.0.attn.c_attn.lora_B.default.weight",
    "base_model.model.transformer.h.0.attn.c_attn.base_layer.bias",
    "h.0.mlp.c_proj.weight",
    "lora_A.weight",
    ".default..",
    "wte.lora_embedding_A",
    ""};

void Spoil(FuzzedDataProvider& input, AdapterFiles& files) {
  files.is_sound = false;
  do {
    if (files.tensors.empty() || input.ConsumeBool()) {
      Json& field = files.config[input.PickValueInArray(kFields)];
      field = AnyJson(input);
      if (field.is_object() && input.ConsumeBool()) field["c_attn"] = AnyJson(input);
      continue;
    }
    const auto last = files.tensors.size() - 1;
    FileTensor& tensor = files.tensors[input.ConsumeIntegralInRange<std::size_t>(0, last)];
    switch (input.ConsumeIntegralInRange<int>(0, 4)) {
      case 0:
        tensor.name = input.PickValueInArray(kNames);
        break;
      case 1:
        std::swap(tensor, files.tensors.back());
        files.tensors.pop_back();
        break;
      case 2:
        tensor.dtype = input.PickValueInArray({"F16", "BF16", "I8", "F64"});
        break;
      case 3:
        if (!tensor.shape.empty())
          tensor.shape[0] = input.ConsumeIntegralInRange<std::uint64_t>(0, 99);
        break;
      default:
        tensor.bytes.replace(0, std::min<std::size_t>(4, tensor.bytes.size()),
                             input.ConsumeBytesAsString(4));
    }
  } while (input.ConsumeBool());
}

Streamed Merge(const std::string& config, std::string_view file, std::vector<Adapter> adapters,
               StoredWeights weights, std::size_t chunk) {
  auto converter = Converter::OfSafetensors(config, {}, weights, std::move(adapters));
  if (!converter.ok()) return {.error = converter.error()};
  return ConvertWhole(*converter.value(), file, chunk);
}

}  // namespace
}  // namespace gpt2::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gpt2;
  using namespace gpt2::fuzz;
  FuzzedDataProvider input(data, size);
  const Config config = SmallConfig(input);
  AdapterFiles files = SoundAdapter(input, config);
  if (files.is_sound && input.ConsumeBool()) Spoil(input, files);
  std::string header = TextOf(HeaderJson(files.tensors));
  std::string config_text = TextOf(files.config);
  if (!files.is_sound) {
    header = MaybeDamaged(input, std::move(header));
    config_text = MaybeDamaged(input, std::move(config_text));
  }
  const std::string file = SafetensorsFile(header, files.tensors);
  const StoredWeights weights = input.PickValueInArray({StoredWeights::kF32, StoredWeights::kQ8});
  const std::string model = SafetensorsFile(TextOf(HeaderJson(HubTensors(config, DType::kF32, 1))),
                                            HubTensors(config, DType::kF32, 1));
  Streamed results[2];
  for (Streamed& merged : results) {
    auto adapter = Adapter::Read(config_text, std::as_bytes(std::span(file)), 1);
    if (!adapter.ok()) {
      Check(!files.is_sound, adapter.error().message);
      Check(adapter.error().message.find("adapter") != std::string::npos, "names no adapter");
      return 0;
    }
    std::vector<Adapter> adapters;
    adapters.push_back(std::move(adapter.value()));
    const std::size_t chunk = &merged == results ? model.size() : 1 + size % 251;
    merged = Merge(TextOf(ConfigJson(config)), model, std::move(adapters), weights, chunk);
  }
  const auto& [whole, cut] = results;
  CheckSame(whole, cut);
  if (whole.error) {
    const std::string& message = whole.error->message;
    Check(!files.is_sound, message);
    // A sum that the stored format cannot hold is an error of the merged tensor.
    const bool names_it = message.find("adapter") != std::string::npos ||
                          message.find("a scale is not finite") != std::string::npos ||
                          message.find("too large for float16") != std::string::npos;
    Check(names_it, message);
    return 0;
  }
  CheckLoads(whole);
  return 0;
}
