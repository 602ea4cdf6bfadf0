// Loaded model folders of tests/data, and the results of a float64 reference for them.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/thread_pool.h"
#include "engine/format/config_json.h"
#include "engine/format/json.h"
#include "engine/format/stored_weights.h"
#include "engine/format/weight_reader.h"
#include "engine/generate/context.h"

namespace gpt2::testing {

// The variants of tests/data/tiny-models.
std::vector<std::string> TinyModelNames();
std::string TinyModelFolder(const std::string& name);
// The name of a test for one of them, with "_" for each "-".
std::string TestNameOf(const ::testing::TestParamInfo<std::string>& model);

// The two files of a model.
struct ModelFiles {
  ModelFiles(std::string config_json, std::string weights)
      : config(std::move(config_json)), file(std::move(weights)) {}
  // Those of such a folder.
  explicit ModelFiles(const std::string& name);

  Config parsed() const { return ReadConfigJson(config).value().config; }

  std::string config;  // config.json
  std::string file;    // model.safetensors
};

// `files` as the engine reads them: converted to `weights`, unless config.json says that they are
// converted already.
ModelFiles AsConverted(ModelFiles files, StoredWeights weights = StoredWeights::kQ8);

// The text of a file; an empty one and a test failure if there is none.
std::string ReadTestFile(const std::string& path);
Json ReadTestJson(const std::string& path);

// Loads a model from the text of its config.json and its safetensors file, feeding `feed_bytes` at
// a time. Floats of a model that is not converted become `format`.
std::unique_ptr<Weights> ReadWeights(const std::string& config_json, std::string_view file,
                                     WeightFormat format, std::size_t feed_bytes = 1 << 20);
// The same from a folder.
std::unique_ptr<Weights> LoadWeights(const std::string& folder, WeightFormat format,
                                     std::size_t feed_bytes = 1 << 20);

// A loaded model with its own threads and context.
struct TestModel {
  TestModel(std::unique_ptr<Weights> loaded, KvFormat kv, std::size_t threads = 1,
            const KernelTable& kernels = BestKernels());
  TestModel(const std::string& folder, WeightFormat format, KvFormat kv, std::size_t threads = 1,
            const KernelTable& kernels = BestKernels());

  // Logits [ids, vocab_size] of a text that is run `chunk` tokens at a time.
  std::vector<std::vector<float>> Logits(std::span<const std::int32_t> ids, std::size_t chunk);

  std::unique_ptr<Weights> weights;
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<Context> context;
};

struct Golden {
  explicit Golden(const std::string& folder);

  std::vector<std::int32_t> ids;
  std::vector<std::vector<float>> logits;
  Json trace;      // {stage: [ids][n_embd]}
  Json attention;  // [n_layer][n_head][ids] of the last token; not in every file
  std::vector<std::int32_t> greedy_prompt;
  std::vector<std::int32_t> greedy_ids;
};

}  // namespace gpt2::testing
