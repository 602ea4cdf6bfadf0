// `gpt2-weights random`: makes a model of random weights, for tests and benchmarks.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <set>
#include <vector>

#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/base/thread_pool.h"
#include "engine/format/config_json.h"
#include "engine/format/json.h"
#include "engine/kernels/layout.h"
#include "engine/model/matrix.h"
#include "engine/model/weights.h"
#include "weights_tools/commands.h"
#include "weights_tools/files.h"
#include "weights_tools/model_writer.h"
#include "weights_tools/progress.h"
#include "weights_tools/quantizer.h"
#include "weights_tools/runner.h"
#include "weights_tools/standard_streams.h"

namespace gpt2::tools {
namespace {

// GPT-2's own initialisation (Radford et al. 2019): normal with deviation 0.02, gains 1, biases 0.
// The sum of twelve uniform numbers is normal enough, and the same everywhere.
float NextNormal(Random& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.NextUnit();
  return static_cast<float>(0.02 * sum);
}

// Embeddings this much larger drown what the blocks add to them: the head finds the last token
// again.
constexpr float kEchoScale = 50.0f;

Status FillRandomly(Weights& weights, StoredWeights format, std::uint64_t seed, bool echo) {
  ThreadPool pool(CoreCount());
  Random random(seed);
  Progress progress("making random weights");
  const std::vector<TensorSpec> specs = TensorSpecs(weights.config);
  std::vector<float> row;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const TensorSpec& spec = specs[i];
    progress.Update(i, specs.size());
    const WeightFormat wanted = MemoryFormat(format, spec);
    const bool is_q4 = wanted == WeightFormat::kQ4;
    GPT2_TRY(Allocate(spec, is_q4 ? WeightFormat::kF32 : wanted, weights));
    const auto [matrix, floats] = Bind(spec, weights);
    row.resize(spec.cols);
    for (std::size_t r = 0; r < spec.rows; ++r) {
      for (float& value : row) {
        value = spec.is_vector() ? (spec.is_required() ? 1.0f : 0.0f) : NextNormal(random);
        if (echo && matrix == &weights.wte) value *= kEchoScale;
      }
      if (spec.is_matrix()) {
        matrix->SetRow(r, row);
      } else {
        std::copy(row.begin(), row.end(), floats->data() + r * spec.cols);
      }
    }
    if (is_q4 && spec.cols >= kGroup) {
      GPT2_ASSIGN(*matrix, QuantizeToQ4(*matrix, /*gram=*/{}, pool));
    }
    if (spec.name != "lm_head.bias") weights.parameter_count += spec.rows * spec.cols;
  }
  return Done{};
}

}  // namespace

Status MakeRandomModel(const std::string& config_file, const std::string& out, StoredWeights format,
                       std::uint64_t seed, bool echo, bool force, bool json) {
  GPT2_TRY(CheckOutput(out, {config_file}, force));
  if (json) GPT2_TRY(CheckPrintable("OUT", out));
  GPT2_ASSIGN(const std::string text, ReadFile(config_file));
  GPT2_ASSIGN(const ModelConfig config, ReadConfigJson(text));
  GPT2_ASSIGN(const ParsedJson config_json, ParseJson(text, config_file));
  Weights weights(config.config);
  GPT2_TRY(FillRandomly(weights, format, seed, echo));
  std::set<std::string> names;
  for (const TensorSpec& spec : TensorSpecs(config.config)) {
    if (spec.name != "lm_head.bias") names.insert(spec.name);  // GPT-2's head has none
  }
  GPT2_ASSIGN(const WriteReport report, WriteModel(out, {.weights = &weights,
                                                         .only = &names,
                                                         .format = format,
                                                         .config = *config_json,
                                                         .vocabulary = nullptr,
                                                         .inputs = {config_file},
                                                         .force = force}));
  PrintNotes(report.leftovers);
  if (json) {
    const Json result = {{"out", out},
                         {"parameters", weights.parameter_count},
                         {"bytes", report.bytes},
                         {"sha256", report.sha256}};
    std::printf("%s\n", result.dump().c_str());
  } else {
    std::printf("%s: %zu random parameters, %llu bytes\n", out.c_str(), weights.parameter_count,
                static_cast<unsigned long long>(report.bytes));
  }
  return Done{};
}

}  // namespace gpt2::tools
