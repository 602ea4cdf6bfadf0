// Tests LoRA adapters that are merged into models during conversion. Results are compared with a
// float64 reference and with files that were merged before.
#include "engine/convert/adapter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/random.h"
#include "engine/convert/converter.h"
#include "engine/format/weight_reader.h"
#include "engine/generate/context.h"
#include "tests/support/convert_file.h"
#include "tests/support/has.h"
#include "tests/support/reference_model.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/test_model.h"
#include "tests/support/torch_writer.h"

namespace gpt2::testing {
namespace {

constexpr const char* kPrefix = "base_model.model.transformer.";

FileTensor RandomTensor(Random& random, std::vector<std::uint64_t> shape, double size = 0.1) {
  FileTensor tensor;
  tensor.shape = std::move(shape);
  std::size_t count = 1;
  for (const std::uint64_t n : tensor.shape) count *= n;
  for (std::size_t i = 0; i < count; ++i) {
    tensor.values.push_back(static_cast<float>((random.NextUnit() - 0.5) * 2 * size));
  }
  return tensor;
}

// An adapter as its two files.
struct AdapterFiles {
  Json config = {{"peft_type", "LORA"}, {"task_type", "CAUSAL_LM"},     {"r", 3},
                 {"lora_alpha", 5},     {"target_modules", {"c_attn"}}, {"fan_in_fan_out", true},
                 {"bias", "none"},      {"modules_to_save", nullptr}};
  FileTensors tensors;

  Result<Adapter> Read(double weight = 1) const {
    const std::string file = SafetensorsFile(tensors);
    return Adapter::Read(config.dump(), std::as_bytes(std::span(file)), weight);
  }
};

// Adds the factors A and B of `module`, such as "h.0.attn.c_attn", to `files`.
void AddLowRank(AdapterFiles& files, const Config& config, const std::string& module,
                std::uint64_t rank, Random& random) {
  for (const TensorSpec& spec : TensorSpecs(config)) {
    if (spec.name != module + ".weight") continue;
    const std::string prefix = module == "lm_head" ? "base_model.model." : kPrefix;
    files.tensors[prefix + module + ".lora_A.weight"] =
        RandomTensor(random, {rank, spec.cols}, 0.5);
    files.tensors[prefix + module + ".lora_B.weight"] =
        RandomTensor(random, {spec.rows, rank}, 0.5);
  }
}

// An adapter for the modules of `names` in every layer.
AdapterFiles MakeAdapter(const Config& config, const std::vector<std::string>& names,
                         std::uint64_t rank = 3, std::uint64_t seed = 1) {
  AdapterFiles files;
  Random random(seed);
  files.config["r"] = rank;
  files.config["target_modules"] = Json::array();
  for (const std::string& name : names) {
    files.config["target_modules"].push_back(name.substr(name.rfind('.') + 1));
    for (std::size_t layer = 0; layer < config.n_layer; ++layer) {
      AddLowRank(files, config, "h." + std::to_string(layer) + "." + name, rank, random);
    }
  }
  return files;
}

const std::vector<std::string> kAllModules = {"attn.c_attn", "attn.c_proj", "mlp.c_fc",
                                              "mlp.c_proj"};

Result<Converted> Merge(const ModelFiles& model, std::vector<Adapter> adapters,
                        StoredWeights weights = StoredWeights::kF32,
                        std::size_t chunk_bytes = 1 << 20) {
  GPT2_ASSIGN(const auto converter,
              Converter::OfSafetensors(model.config, {}, weights, std::move(adapters)));
  return ConvertFile(*converter, model.file, chunk_bytes);
}

Result<Converted> Merge(const ModelFiles& model, const AdapterFiles& files,
                        StoredWeights weights = StoredWeights::kF32,
                        std::size_t chunk_bytes = 1 << 20) {
  GPT2_ASSIGN(Adapter adapter, files.Read());
  std::vector<Adapter> adapters;
  adapters.push_back(std::move(adapter));
  return Merge(model, std::move(adapters), weights, chunk_bytes);
}

// Logits [ids, vocab_size] that the engine computes in float32.
std::vector<std::vector<float>> EngineLogits(const Converted& merged,
                                             const std::vector<std::int32_t>& ids) {
  TestModel model(ReadWeights(merged.folder.config, merged.file, WeightFormat::kF32),
                  KvFormat::kF32);
  return model.Logits(ids, ids.size());
}

// W + scale * (B A)^T by its definition, in T, of each matrix that `adapter` has. W is [in, out],
// and that of a GPT-BigCode [out, in]. Each entry of B A is summed from 0 on in the order of the
// rank.
template <typename T>
void MergeByDefinition(const Config& config, const FileTensors& adapter, T scale,
                       const std::string& module, std::vector<T>& weight) {
  for (const auto& [name, a] : adapter) {
    if (name.find(module + ".lora_A.") == std::string::npos) continue;
    const FileTensor& b = adapter.at(std::string(name).replace(name.find("lora_A"), 6, "lora_B"));
    const auto size = [](std::uint64_t of) { return static_cast<std::size_t>(of); };
    const std::size_t rank = size(a.shape[0]), in = size(a.shape[1]), out = size(b.shape[0]);
    for (std::size_t i = 0; i < in; ++i) {
      for (std::size_t o = 0; o < out; ++o) {
        T sum = 0;
        for (std::size_t k = 0; k < rank; ++k) {
          sum += static_cast<T>(b.values[o * rank + k]) * static_cast<T>(a.values[k * in + i]);
        }
        weight[config.is_bigcode ? o * in + i : i * out + o] += scale * sum;
      }
    }
  }
}

class EveryModel : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Adapter, EveryModel, ::testing::ValuesIn(TinyModelNames()), TestNameOf);

TEST_P(EveryModel, TheReferenceMatchesTheGoldenLogits) {
  const ModelFiles model(GetParam());
  const Golden golden(TinyModelFolder(GetParam()));
  const auto logits =
      ReferenceLogits(model.parsed(), Widen(ReadFileTensors(model.file)), golden.ids);
  ExpectNear(golden.logits, logits);
}

TEST_P(EveryModel, MergedLogitsMatchTheFloat64Reference) {
  const ModelFiles model(GetParam());
  const Golden golden(TinyModelFolder(GetParam()));
  AdapterFiles files = MakeAdapter(model.parsed(), kAllModules);
  Random random(7);
  AddLowRank(files, model.parsed(), "h.0.mlp.c_fc", 2, random);
  files.config["rank_pattern"] = {{"^transformer\\.h\\.0\\.mlp\\.c_fc", 2}, {"c_fc", 3}};
  files.config["alpha_pattern"] = {{"c_attn", 1.5}};
  for (const bool is_rslora : {false, true}) {
    files.config["use_rslora"] = is_rslora;
    ReferenceWeights weights = Widen(ReadFileTensors(model.file));
    for (auto& [name, values] : weights) {
      if (!name.ends_with(".weight")) continue;
      const std::string module = name.substr(0, name.rfind('.'));
      const double alpha = module.ends_with("c_attn") ? 1.5 : 5;
      const double rank = module == "h.0.mlp.c_fc" ? 2 : 3;
      MergeByDefinition(model.parsed(), files.tensors, alpha / (is_rslora ? std::sqrt(rank) : rank),
                        module, values);
    }
    const auto merged = Merge(model, files);
    ASSERT_TRUE(merged.ok()) << merged.error().message;
    const auto expected = ReferenceLogits(model.parsed(), weights, golden.ids);
    ExpectNear(EngineLogits(merged.value(), golden.ids), expected);
    // The adapter changes the matrix.
    EXPECT_GT(std::fabs(expected.back()[0] - static_cast<double>(golden.logits.back()[0])), 1e-3);
  }
}

// The merged matrix is quantized, with the same result as from a file that holds it.
TEST_P(EveryModel, MergingWhileConvertingIsBitIdenticalToConvertingAMergedFile) {
  const ModelFiles model(GetParam());
  const AdapterFiles files = MakeAdapter(model.parsed(), kAllModules);
  FileTensors tensors = ReadFileTensors(model.file);
  for (auto& [name, tensor] : tensors) {
    tensor.dtype = DType::kF32;
    const std::string module = name.substr(0, name.rfind('.'));
    if (name.ends_with(".weight")) {
      MergeByDefinition(model.parsed(), files.tensors, static_cast<float>(5.0 / 3), module,
                        tensor.values);
    }
  }
  ModelFiles before = model;
  before.file = SafetensorsFile(tensors);
  for (const StoredWeights weights : kConvertedWeights) {
    const auto expected = Merge(before, std::vector<Adapter>(), weights);
    const auto merged = Merge(model, files, weights, 1000);
    ASSERT_TRUE(expected.ok() && merged.ok()) << merged.error().message;
    EXPECT_EQ(merged.value().folder.config, expected.value().folder.config);
    // Tensors lie in another order.
    EXPECT_TRUE(TensorsOf(merged.value().file) == TensorsOf(expected.value().file));
  }
}

TEST(Adapter, AllNamingSchemesOfPeftGiveTheSameModel) {
  const ModelFiles model("tied");
  const AdapterFiles files = MakeAdapter(model.parsed(), {"attn.c_attn"});
  const std::string expected = Merge(model, files).value().file;
  const auto replaced = [&](const std::string& from, const std::string& to) {
    AdapterFiles other = files;
    other.tensors.clear();
    for (const auto& [name, tensor] : files.tensors) {
      std::string changed = name;
      if (changed.find(from) != std::string::npos)
        changed.replace(changed.find(from), from.size(), to);
      other.tensors[changed] = tensor;
    }
    return other;
  };
  for (const auto& [from, to] :
       {std::pair("base_model.model.transformer.", "base_model.model."),
        std::pair("base_model.model.transformer.", "transformer."),
        std::pair("base_model.model.transformer.", ""), std::pair(".weight", ".default.weight")}) {
    const auto merged = Merge(model, replaced(from, to));
    ASSERT_TRUE(merged.ok()) << merged.error().message;
    EXPECT_TRUE(merged.value().file == expected) << from << " " << to;
  }
}

TEST(Adapter, HalfPrecisionFactorsAreWidened) {
  const ModelFiles model("tied");
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    AdapterFiles files = MakeAdapter(model.parsed(), {"attn.c_attn"});
    for (auto& [name, tensor] : files.tensors) tensor.dtype = dtype;
    AdapterFiles wide = files;
    wide.tensors = ReadFileTensors(SafetensorsFile(files.tensors));
    EXPECT_TRUE(Merge(model, files).value().file == Merge(model, wide).value().file);
  }
}

TEST(Adapter, SeveralAdaptersAreMergedInOrderWithTheirWeights) {
  const ModelFiles model("tied");
  const AdapterFiles first = MakeAdapter(model.parsed(), {"attn.c_attn"}, 3, 1);
  const AdapterFiles second = MakeAdapter(model.parsed(), {"attn.c_attn", "mlp.c_fc"}, 4, 2);
  const auto merge = [&](double weight, double other_weight, bool is_swapped) {
    std::vector<Adapter> adapters;
    adapters.push_back(std::move(first.Read(weight).value()));
    adapters.push_back(std::move(second.Read(other_weight).value()));
    if (is_swapped) std::swap(adapters[0], adapters[1]);
    return Merge(model, std::move(adapters)).value();
  };
  FileTensors tensors = ReadFileTensors(model.file);
  for (auto& [name, tensor] : tensors) {
    if (!name.ends_with(".weight")) continue;
    const std::string module = name.substr(0, name.rfind('.'));
    MergeByDefinition(model.parsed(), first.tensors, static_cast<float>(0.5 * (5.0 / 3)), module,
                      tensor.values);
    MergeByDefinition(model.parsed(), second.tensors, static_cast<float>(-2 * (5.0 / 4)), module,
                      tensor.values);
  }
  const auto found = EngineLogits(merge(0.5, -2, false), {1, 2, 3});
  ExpectNear(found,
             ReferenceLogits(model.parsed(), Widen(tensors), std::vector<std::int32_t>{1, 2, 3}));
  EXPECT_NE(found, EngineLogits(merge(-2, 0.5, false), {1, 2, 3}));
  EXPECT_TRUE(merge(0, 0, false).file == merge(0, 0, true).file);
}

TEST(Adapter, FullyTrainedTensorsReplaceTheBaseTensors) {
  const std::vector<std::int32_t> ids = {5, 9, 2, 60};
  for (const std::string name : {"tied", "untied-bias"}) {
    const ModelFiles model(name);
    const Config config = model.parsed();
    AdapterFiles files = MakeAdapter(config, {"attn.c_attn"});
    Random random(3);
    ReferenceWeights weights = Widen(ReadFileTensors(model.file));
    for (auto& [tensor, values] : weights) {
      if (tensor.ends_with("c_attn.weight")) {
        MergeByDefinition(model.parsed(), files.tensors, 5.0 / 3,
                          tensor.substr(0, tensor.rfind('.')), values);
      }
    }
    const auto save = [&](const std::string& file_name, const std::string& tensor,
                          std::vector<std::uint64_t> shape) {
      files.tensors[file_name] = RandomTensor(random, std::move(shape));
      const auto& values = files.tensors[file_name].values;
      weights[tensor].assign(values.begin(), values.end());
    };
    files.config["bias"] = "all";
    files.config["modules_to_save"] = {"wte", "lm_head", "ln_f", "mlp.c_proj"};
    save("base_model.model.lm_head.modules_to_save.default.weight", "lm_head.weight",
         {config.vocab_size, config.n_embd});
    save("base_model.model.transformer.wte.weight", "wte.weight",
         {config.vocab_size, config.n_embd});
    save("base_model.model.transformer.ln_f.modules_to_save.weight", "ln_f.weight",
         {config.n_embd});
    save("base_model.model.transformer.ln_f.bias", "ln_f.bias", {config.n_embd});
    save("base_model.model.transformer.h.1.attn.c_attn.base_layer.bias", "h.1.attn.c_attn.bias",
         {3 * config.n_embd});
    for (const std::string layer : {"h.0.", "h.1."}) {
      save("base_model.model.transformer." + layer + "mlp.c_proj.weight",
           layer + "mlp.c_proj.weight", {config.n_inner, config.n_embd});
    }
    // Both tensors are ignored: a mask, and the copy of a module that was replaced.
    files.tensors["base_model.model.transformer.h.0.attn.bias"] =
        RandomTensor(random, {1, 1, 2, 2});
    files.tensors["base_model.model.lm_head.original_module.weight"] = RandomTensor(random, {2});
    for (const std::size_t chunk : {std::size_t{1} << 20, std::size_t{777}}) {
      const auto merged = Merge(model, files, StoredWeights::kF32, chunk);
      ASSERT_TRUE(merged.ok()) << merged.error().message;
      EXPECT_TRUE(TensorsOf(merged.value().file).contains("lm_head.weight"));
      ExpectNear(EngineLogits(merged.value(), ids), ReferenceLogits(config, weights, ids));
    }
  }
}

TEST(Adapter, ATiedHeadStaysTiedIfTheAdapterTiesIt) {
  const ModelFiles model("tied");
  const Config config = model.parsed();
  Random random(3);
  AdapterFiles files = MakeAdapter(config, {"attn.c_attn"});
  const FileTensor table = RandomTensor(random, {config.vocab_size, config.n_embd});
  files.tensors["base_model.model.transformer.wte.weight"] = table;
  // PEFT saves a resized embedding without naming it in the config.
  for (const bool has_head : {false, true}) {
    if (has_head) files.tensors["base_model.model.lm_head.weight"] = table;
    const auto merged = Merge(model, files);
    ASSERT_TRUE(merged.ok()) << merged.error().message;
    EXPECT_FALSE(TensorsOf(merged.value().file).contains("lm_head.weight"));
    EXPECT_EQ(ReadFileTensors(merged.value().file).at("wte.weight").values, table.values);
  }
  // A file may have a copy of the head.
  FileTensors with_head = ReadFileTensors(model.file);
  with_head["lm_head.weight"] = with_head.at("wte.weight");
  ModelFiles copied = model;
  copied.file = SafetensorsFile(with_head);
  const auto merged = Merge(copied, files);
  ASSERT_TRUE(merged.ok()) << merged.error().message;
  const FileTensors found = ReadFileTensors(merged.value().file);
  EXPECT_EQ(found.at("wte.weight").values, table.values);
  EXPECT_EQ(found.at("lm_head.weight").values, table.values);
  files.config["modules_to_save"] = {"wte"};
  files.tensors.erase("base_model.model.lm_head.weight");
  EXPECT_FALSE(Merge(model, files).ok());
  files.config["ensure_weight_tying"] = true;
  EXPECT_TRUE(Merge(model, files).ok());
}

TEST(Adapter, AnUntiedHeadMayHaveLowRankFactors) {
  const ModelFiles model("untied-bias");
  AdapterFiles files = MakeAdapter(model.parsed(), {"attn.c_attn"});
  Random random(5);
  files.config["target_modules"] = {"c_attn", "lm_head"};
  AddLowRank(files, model.parsed(), "lm_head", 3, random);
  std::vector<float> expected = ReadFileTensors(model.file).at("lm_head.weight").values;
  Config as_bigcode = model.parsed();  // whose matrices are [out, in], as the head is
  as_bigcode.is_bigcode = true;
  MergeByDefinition(as_bigcode, files.tensors, static_cast<float>(5.0 / 3), "lm_head", expected);
  const auto merged = Merge(model, files);
  ASSERT_TRUE(merged.ok()) << merged.error().message;
  EXPECT_EQ(ReadFileTensors(merged.value().file).at("lm_head.weight").values, expected);
  // PEFT also saves the head.
  files.tensors["base_model.model.lm_head.base_layer.weight"] =
      ReadFileTensors(model.file).at("lm_head.weight");
  EXPECT_TRUE(Merge(model, files).value().file == merged.value().file);
}

TEST(Adapter, OnlyLayersToTransformNeedFactors) {
  const ModelFiles model("tied");
  AdapterFiles files;
  Random random(5);
  AddLowRank(files, model.parsed(), "h.1.attn.c_attn", 3, random);
  for (const Json& layers : {Json(1), Json({1})}) {
    files.config["layers_to_transform"] = layers;
    EXPECT_TRUE(Merge(model, files).ok());
  }
  files.config["target_modules"] = {"transformer.h.1.attn.c_attn"};  // whole, so in any layer
  files.config["layers_to_transform"] = {0};
  EXPECT_TRUE(Merge(model, files).ok());
  files.config["target_modules"] = {"h.1.attn.c_attn"};
  EXPECT_TRUE(Has(Merge(model, files).error().message, "target_modules"));
  files.config["target_modules"] = {"c_attn"};
  files.config["layers_to_transform"] = nullptr;
  files.config["exclude_modules"] = {"h.0.attn.c_attn"};
  EXPECT_TRUE(Merge(model, files).ok());
  files.config["exclude_modules"] = nullptr;
  EXPECT_TRUE(Has(Merge(model, files).error().message, "\"h.0.attn.c_attn\""));
  files.config["target_modules"] = ".*1\\.attn.c_attn";  // never evaluated
  EXPECT_TRUE(Merge(model, files).ok());
}

TEST(Adapter, ALayerIsATargetByItsNumber) {
  AdapterConfig config;
  config.targets = {"c_attn", "lm_head"};
  config.layers = {1, 12};
  for (const char* module : {"h.1.attn.c_attn", "h.12.attn.c_attn"}) {
    EXPECT_TRUE(config.IsTarget(module)) << module;
  }
  for (const char* module :
       {"h.2.attn.c_attn", "h.11.attn.c_attn", "h.121.attn.c_attn", "h.x.attn.c_attn", "lm_head"}) {
    EXPECT_FALSE(config.IsTarget(module)) << module;
  }
}

std::string AdapterError(const Result<Adapter>& adapter) {
  return adapter.ok() ? "" : adapter.error().message;
}

TEST(Adapter, LongListsOfTheConfigAreRefused) {
  const AdapterFiles files = MakeAdapter(ModelFiles("tied").parsed(), {"attn.c_attn"});
  for (const char* field :
       {"target_modules", "exclude_modules", "modules_to_save", "layers_to_transform"}) {
    AdapterFiles other = files;
    const Json entry = std::string_view(field) == "layers_to_transform" ? Json(7) : Json("c_attn");
    other.config[field] = std::vector<Json>(1024, entry);
    EXPECT_EQ(AdapterError(other.Read()), "");
    other.config[field].push_back(entry);
    EXPECT_TRUE(Has(AdapterError(other.Read()),
                    std::string("\"") + field + "\" is an array of 1025, expected "));
  }
  for (const char* field : {"rank_pattern", "alpha_pattern"}) {
    AdapterFiles other = files;
    for (int i = 0; i < 1024; ++i) other.config[field]["h." + std::to_string(i)] = 3;
    EXPECT_EQ(AdapterError(other.Read()), "");
    other.config[field]["one.more"] = 3;
    EXPECT_TRUE(Has(AdapterError(other.Read()),
                    std::string("\"") + field + "\" is an object of 1025, expected "));
  }
}

TEST(Adapter, MoreThan16384TensorsAreRefused) {
  const auto read = [](std::size_t count) {
    std::string header;
    for (std::size_t i = 0; i < count; ++i) {
      header += Concat(i == 0 ? "{" : ",", "\"h.", i, ".ln_1.bias\":");
      header += R"({"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
    }
    header += "}";
    const std::string file = LittleEndianBytes(header.size(), 8) + header;
    return Adapter::Read(AdapterFiles().config.dump(), std::as_bytes(std::span(file)), 1);
  };
  EXPECT_EQ(read(16384).value().saved.size(), 16384u);
  EXPECT_TRUE(Has(AdapterError(read(16385)), "adapter_model.safetensors: more than 16384 tensors"));
}

// The change of a valid adapter, and the expected error.
struct Refusal {
  const char* what;
  std::string expected;
  std::function<void(AdapterFiles&)> change;
};

TEST(Adapter, UnsupportedAdapterSettingsAreRefusedByName) {
  const ModelFiles model("tied");
  const Config config = model.parsed();
  const std::string a = std::string(kPrefix) + "h.0.attn.c_attn.lora_A.weight";
  const std::string b = std::string(kPrefix) + "h.0.attn.c_attn.lora_B.weight";
  Random random(9);
  const auto field = [](const char* name, Json value) {
    return [name, value](AdapterFiles& files) { files.config[name] = value; };
  };
  const auto tensor = [&random](const std::string& name, std::vector<std::uint64_t> shape) {
    return [&random, name, shape](AdapterFiles& files) {
      files.tensors[name] = RandomTensor(random, shape);
    };
  };
  const std::vector<Refusal> refusals = {
      {"another rank", "has rank 3, adapter_config.json says 4", field("r", 4)},
      {"no rank", "\"r\" is missing", [](AdapterFiles& f) { f.config.erase("r"); }},
      {"rank 0", "\"r\" is 0", field("r", 0)},
      {"no alpha", "\"lora_alpha\" is missing",
       [](AdapterFiles& f) { f.config.erase("lora_alpha"); }},
      {"no type", "\"peft_type\" is missing", [](AdapterFiles& f) { f.config.erase("peft_type"); }},
      {"another method", "\"peft_type\" is \"IA3\"", field("peft_type", "IA3")},
      {"another task", "\"task_type\" is \"SEQ_CLS\"", field("task_type", "SEQ_CLS")},
      {"DoRA", "\"use_dora\" is true", field("use_dora", true)},
      {"biases of A and B", "\"lora_bias\" is true", field("lora_bias", true)},
      {"Megatron", "\"megatron_config\" is an object of 1", field("megatron_config", {{"a", 1}})},
      {"repeated layers", "\"layer_replication\"", field("layer_replication", {{0, 1}})},
      {"single tokens", "\"trainable_token_indices\"", field("trainable_token_indices", {1})},
      {"parameters", "\"target_parameters\"", field("target_parameters", {"a"})},
      {"a later field", "\"use_next_thing\" is true", field("use_next_thing", true)},
      {"a base that is changed", "\"init_lora_weights\" is \"pissa\"",
       field("init_lora_weights", "pissa")},
      {"unknown biases", "\"bias\" is \"some\"", field("bias", "some")},
      {"a regular expression", "\"rank_pattern\" has the key \".*c_attn\"",
       field("rank_pattern", {{".*c_attn", 3}})},
      {"a regular expression with its beginning", "has the key \"^h.0.attn.c_attn\"",
       field("alpha_pattern", {{"^h.0.attn.c_attn", 3}})},
      {"a rank in a pattern", "\"rank_pattern\" is 0", field("rank_pattern", {{"c_attn", 0}})},
      {"an alpha in a pattern", "\"alpha_pattern\" is \"x\"",
       field("alpha_pattern", {{"c_attn", "x"}})},
      {"layers by another name", "\"layers_pattern\" is \"blocks\"",
       field("layers_pattern", "blocks")},
      {"an unknown target", "target_modules names \"q_proj\"",
       field("target_modules", {"c_attn", "q_proj"})},
      {"LoRA of an embedding", "target_modules names \"wte\"",
       field("target_modules", {"c_attn", "wte"})},
      {"a target that is not there", "names \"h.0.attn.c_proj\", which has no lora_A",
       field("target_modules", {"c_attn", "c_proj"})},
      {"a module that is no target", "\"h.0.attn.c_attn\", which target_modules",
       field("target_modules", {"c_fc"})},
      {"a saved module that is not there", "modules_to_save names \"ln_f\"",
       field("modules_to_save", {"ln_f"})},
      {"no B", "has no matching lora_B", [&](AdapterFiles& f) { f.tensors.erase(b); }},
      {"no A", "has no matching lora_A", [&](AdapterFiles& f) { f.tensors.erase(a); }},
      {"A and B of different rank", "expected [rank, in] and [out, rank]", tensor(b, {192, 2})},
      {"A of another width", "expected [r, 64]", tensor(a, {3, 63})},
      {"B of another width", "and [192, r]", tensor(b, {191, 3})},
      {"A of one dimension", "expected [rank, in] and [out, rank]", tensor(a, {192})},
      {"NaN", "\"" + a + "\" has a value that is not finite",
       [&](AdapterFiles& f) { f.tensors[a].values[7] = std::nanf(""); }},
      {"infinity", "\"" + b + "\" has a value that is not finite",
       [&](AdapterFiles& f) { f.tensors[b].values[0] = std::numeric_limits<float>::infinity(); }},
      {"a sum beyond float32", "not finite once the adapter is merged",
       [&](AdapterFiles& f) { f.tensors[a].values[0] = f.tensors[b].values[0] = 3e38f; }},
      {"a scale beyond float32", "lora_alpha is too large", field("lora_alpha", 1e300)},
      {"a layer that is not there", "LoRA for \"h.2.attn.c_attn\", expected c_attn",
       [&](AdapterFiles& f) {
         for (const char* factor : {".lora_A.weight", ".lora_B.weight"}) {
           f.tensors[std::string(kPrefix) + "h.2.attn.c_attn" + factor] =
               f.tensors[std::string(kPrefix) + "h.1.attn.c_attn" + factor];
         }
       }},
      {"a magnitude", "expected lora_A.weight or lora_B.weight; DoRA",
       tensor(std::string(kPrefix) + "h.0.attn.c_attn.lora_magnitude_vector", {192})},
      {"LoRA of an embedding", "expected lora_A.weight or lora_B.weight; DoRA",
       tensor(std::string(kPrefix) + "wte.lora_embedding_A", {3, 160})},
      {"a bias of B", "expected lora_A.weight",
       tensor(std::string(kPrefix) + "h.0.attn.c_attn.lora_B.bias", {192})},
      {"a tensor of another head", "\"score.weight\" does not belong to a GPT-2",
       tensor("base_model.model.score.weight", {2, 64})},
      {"a saved tensor of another shape", "\"wte.weight\" is [161, 64], expected [160, 64]",
       tensor(std::string(kPrefix) + "wte.weight", {161, 64})},
      {"a head that is not the embedding", "expected both in the adapter",
       tensor("base_model.model.lm_head.weight", {160, 64})},
      {"factors of a tied head", "does not tie it to its embedding",
       [&](AdapterFiles& f) {
         f.config["target_modules"] = {"c_attn", "lm_head"};
         f.tensors["base_model.model.lm_head.lora_A.weight"] = RandomTensor(random, {3, 64});
         f.tensors["base_model.model.lm_head.lora_B.weight"] = RandomTensor(random, {160, 3});
       }},
      {"a tensor by two names", "occurs twice",
       [&](AdapterFiles& f) {
         f.tensors["base_model.model.h.0.attn.c_attn.lora_A.weight"] = f.tensors[a];
       }},
      {"a saved tensor by two names", "occurs twice",
       [&](AdapterFiles& f) {
         for (const char* name : {"ln_f.bias", "transformer.ln_f.bias"}) {
           f.tensors[name] = RandomTensor(random, {64});
         }
       }},
      {"nothing", "it has no tensors", [](AdapterFiles& f) { f.tensors.clear(); }},
  };
  const AdapterFiles good = MakeAdapter(config, {"attn.c_attn"});
  ASSERT_TRUE(Merge(model, good).ok());
  for (const Refusal& refusal : refusals) {
    AdapterFiles files = good;
    refusal.change(files);
    const auto merged = Merge(model, files);
    ASSERT_FALSE(merged.ok()) << refusal.what;
    EXPECT_TRUE(Has(merged.error().message, refusal.expected))
        << refusal.what << ": " << merged.error().message;
  }
}

TEST(Adapter, ReplacedTensorsCannotBeScaledOrShared) {
  const ModelFiles model("tied");
  AdapterFiles files = MakeAdapter(model.parsed(), {"attn.c_attn"});
  Random random(1);
  files.tensors[std::string(kPrefix) + "ln_f.weight"] = RandomTensor(random, {64});
  const auto merge = [&](double weight, double other_weight) {
    std::vector<Adapter> adapters;
    adapters.push_back(std::move(files.Read(weight).value()));
    adapters.push_back(std::move(files.Read(other_weight).value()));
    return Merge(model, std::move(adapters)).error().message;
  };
  EXPECT_TRUE(Has(merge(1, 1), "tensor \"ln_f.weight\" is replaced by one adapter and changed by"));
  EXPECT_TRUE(Has(merge(0.5, 1), "adapter 1: its weight is not 1"));
  const AdapterFiles added = MakeAdapter(model.parsed(), {"attn.c_attn"});
  AdapterFiles saved = added;
  saved.tensors.clear();
  saved.config["target_modules"] = "none";
  for (const std::string layer : {"h.0.", "h.1."}) {
    saved.tensors[kPrefix + layer + "attn.c_attn.weight"] = RandomTensor(random, {64, 192});
  }
  std::vector<Adapter> adapters;
  adapters.push_back(std::move(added.Read().value()));
  adapters.push_back(std::move(saved.Read().value()));
  EXPECT_TRUE(Has(Merge(model, std::move(adapters)).error().message, "and changed by another"));
}

TEST(Adapter, TruncatedAndInvalidFilesAreRefusedByName) {
  const AdapterFiles files = MakeAdapter(ModelFiles("tied").parsed(), {"attn.c_attn"});
  const std::string config = files.config.dump();
  const std::string file = SafetensorsFile(files.tensors);
  for (std::size_t size = 0; size < file.size(); size += size < 2000 ? 13 : 1009) {
    const auto read = Adapter::Read(config, std::as_bytes(std::span(file).first(size)), 1);
    ASSERT_FALSE(read.ok()) << size;
    EXPECT_TRUE(Has(read.error().message, "adapter_model.safetensors"));
  }
  const std::string longer = file + "x";
  EXPECT_FALSE(Adapter::Read(config, std::as_bytes(std::span(longer)), 1).ok());
  for (const char* bad : {"", "{", "[]", "{\"r\":1,\"r\":2}"}) {
    const auto read = Adapter::Read(bad, std::as_bytes(std::span(file)), 1);
    ASSERT_FALSE(read.ok());
    EXPECT_TRUE(Has(read.error().message, "adapter_config.json"));
  }
}

TEST(Adapter, AQuantizedModelIsRefused) {
  ModelFiles model("tied");
  const Converted converted = Merge(model, std::vector<Adapter>(), StoredWeights::kQ8).value();
  model.config = converted.folder.config;
  model.file = converted.file;
  const auto merged = Merge(model, MakeAdapter(model.parsed(), {"attn.c_attn"}));
  ASSERT_FALSE(merged.ok());
  EXPECT_TRUE(Has(merged.error().message, "already converted to q8"));
}

}  // namespace
}  // namespace gpt2::testing
