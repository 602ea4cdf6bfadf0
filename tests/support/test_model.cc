#include "tests/support/test_model.h"

#include <algorithm>
#include <fstream>

#include "engine/convert/converter.h"
#include "tests/support/convert_file.h"

namespace gpt2::testing {

std::vector<std::string> TinyModelNames() {
  return {
      "bigcode-interleaved", "bigcode-one-key-head", "exact-gelu", "no-bias",    "no-qkv-bias",
      "odd-width",           "prefixed-f16",         "tied",       "quick-gelu", "relu-by-layer",
      "silu-unscaled",       "untied-bias"};
}

std::string TinyModelFolder(const std::string& name) {
  return std::string(GPT2_TEST_DATA) + "/tiny-models/" + name;
}

std::string TestNameOf(const ::testing::TestParamInfo<std::string>& model) {
  std::string name = model.param;
  std::ranges::replace(name, '-', '_');
  return name;
}

std::string ReadTestFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) {
    ADD_FAILURE() << "cannot read " << path;
    return {};
  }
  std::string bytes(static_cast<std::size_t>(in.tellg()), '\0');
  in.seekg(0).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  EXPECT_TRUE(in) << "cannot read " << path;
  return bytes;
}

Json ReadTestJson(const std::string& path) {
  return Json::parse(ReadTestFile(path));
}

ModelFiles::ModelFiles(const std::string& name)
    : config(ReadTestFile(TinyModelFolder(name) + "/config.json")),
      file(ReadTestFile(TinyModelFolder(name) + "/model.safetensors")) {}

ModelFiles AsConverted(ModelFiles files, StoredWeights weights) {
  if (ReadConfigJson(files.config).value().weights) return files;
  const auto converter = Converter::OfSafetensors(files.config, {}, weights);
  EXPECT_TRUE(converter.ok()) << converter.error().message;
  const auto converted = ConvertFile(*converter.value(), files.file);
  EXPECT_TRUE(converted.ok()) << converted.error().message;
  return {converted.value().folder.config, converted.value().file};
}

std::unique_ptr<Weights> ReadWeights(const std::string& config_json, std::string_view original,
                                     WeightFormat format, std::size_t feed_bytes) {
  const ModelFiles files =
      AsConverted({config_json, std::string(original)},
                  format == WeightFormat::kQ8 ? StoredWeights::kQ8 : StoredWeights::kF32);
  std::string_view file = files.file;
  WeightReader reader(ReadConfigJson(files.config).value());
  for (; !file.empty(); file.remove_prefix(std::min(feed_bytes, file.size()))) {
    const Status status = reader.Feed(std::as_bytes(std::span(file.substr(0, feed_bytes))));
    EXPECT_TRUE(status.ok()) << status.error().message;
    if (!status.ok()) break;
  }
  auto weights = reader.Finish();
  EXPECT_TRUE(weights.ok()) << weights.error().message;
  return std::move(weights.value());
}

std::unique_ptr<Weights> LoadWeights(const std::string& folder, WeightFormat format,
                                     std::size_t feed_bytes) {
  return ReadWeights(ReadTestFile(folder + "/config.json"),
                     ReadTestFile(folder + "/model.safetensors"), format, feed_bytes);
}

TestModel::TestModel(const std::string& folder, WeightFormat format, KvFormat kv,
                     std::size_t threads, const KernelTable& kernels)
    : TestModel(LoadWeights(folder, format), kv, threads, kernels) {}

TestModel::TestModel(std::unique_ptr<Weights> loaded, KvFormat kv, std::size_t threads,
                     const KernelTable& kernels)
    : weights(std::move(loaded)), pool(std::make_unique<ThreadPool>(threads)) {
  auto created = Context::Create(*weights, {&kernels, pool.get()}, kv);
  EXPECT_TRUE(created.ok());
  context = std::make_unique<Context>(std::move(created.value()));
}

std::vector<std::vector<float>> TestModel::Logits(std::span<const std::int32_t> ids,
                                                  std::size_t chunk) {
  std::vector<std::vector<float>> result;
  context->sequence().SetWindow(ids);
  // Clears the cache, because cached tokens would not be run again.
  const std::vector<std::int32_t> other = {ids[0] == 0 ? 1 : 0};
  context->sequence().SetWindow(other);
  context->sequence().SetWindow(ids);
  while (!context->sequence().is_current()) {
    const Pass pass = context->Prefill(context->sequence(), chunk);
    for (std::size_t row = 0; row < pass.tokens(); ++row) {
      const auto logits = pass.Logits(row, 1).value().Row(0);
      result.emplace_back(logits.begin(), logits.end());
    }
  }
  return result;
}

Golden::Golden(const std::string& folder) {
  const Json json = ReadTestJson(folder + "/golden.json");
  ids = json["ids"].get<std::vector<std::int32_t>>();
  logits = json["logits"].get<std::vector<std::vector<float>>>();
  trace = json["trace"];
  attention = json.value("attention", Json());
  greedy_prompt = json["greedy"]["prompt"].get<std::vector<std::int32_t>>();
  greedy_ids = json["greedy"]["ids"].get<std::vector<std::int32_t>>();
}

}  // namespace gpt2::testing
