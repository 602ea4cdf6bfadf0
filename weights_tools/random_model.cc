// `gpt2-weights random`: makes a model of random weights, for tests and benchmarks.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/base/thread_pool.h"
#include "engine/format/config_json.h"
#include "engine/format/json.h"
#include "engine/kernels/layout.h"
#include "engine/model/matrix.h"
#include "engine/model/weights.h"
#include "engine/text/quoted.h"
#include "weights_tools/commands.h"
#include "weights_tools/files.h"
#include "weights_tools/model_writer.h"
#include "weights_tools/output_folder.h"
#include "weights_tools/progress.h"
#include "weights_tools/quantizer.h"
#include "weights_tools/runner.h"
#include "weights_tools/standard_streams.h"

namespace gpt2::tools {
namespace {

// GPT-2's own initialisation (Radford et al. 2019): normal with deviation 0.02, gains 1, biases 0.
// The sum of twelve uniform numbers is normal enough, and the same everywhere.
constexpr std::size_t kDraws = 12;
float NextNormal(Random& random) {
  double sum = -6;
  for (std::size_t i = 0; i < kDraws; ++i) sum += random.NextUnit();
  return static_cast<float>(0.02 * sum);
}

// With embeddings this much larger, what the blocks add to them hardly matters: the head predicts
// the last token again.
constexpr float kEchoScale = 50.0f;

// kSlab: rows between two updates of the progress. kGrain: rows that a thread claims at once.
constexpr std::size_t kSlab = 1024, kGrain = 8;

// Fills the matrix with the next values of `random`, and advances it by as many. Rows are made in
// any order, each from its own place in the sequence.
void FillMatrix(Matrix& matrix, float scale, Random& random, ThreadPool& pool, Progress& progress) {
  const std::size_t cols = matrix.cols();
  for (std::size_t first = 0; first < matrix.rows(); first += kSlab) {
    const std::size_t count = std::min(kSlab, matrix.rows() - first);
    pool.ParallelFor(count, kGrain, [&](std::size_t begin, std::size_t end) {
      Random own = random;
      own.Skip(begin * cols * kDraws);
      std::vector<float> row(cols);
      for (std::size_t r = begin; r < end; ++r) {
        for (float& value : row) value = NextNormal(own) * scale;
        matrix.SetRow(first + r, row);
      }
    });
    random.Skip(count * cols * kDraws);
    progress.Advance(count * cols);
  }
}

Status FillRandomly(Weights& weights, StoredWeights format, std::uint64_t seed, bool echo) {
  ThreadPool pool(CoreCount());
  Random random(seed);
  const std::vector<TensorSpec> specs = TensorSpecs(weights.config);
  // The work to quantize a weight, as a multiple of the work to make it; measured.
  constexpr std::size_t kQuantizing = 2;
  const auto is_quantized = [&](const TensorSpec& spec) {
    return MatrixFormat(format, spec) == WeightFormat::kQ4;
  };
  std::uint64_t work = 0;
  for (const TensorSpec& spec : specs) {
    if (spec.is_matrix())
      work += spec.rows * spec.cols * (is_quantized(spec) ? 1 + kQuantizing : 1);
  }
  Progress progress("making random weights", work);
  for (const TensorSpec& spec : specs) {
    const WeightFormat wanted = MatrixFormat(format, spec);
    GPT2_TRY(Allocate(spec, wanted == WeightFormat::kQ4 ? WeightFormat::kF32 : wanted, weights));
    const auto [matrix, floats] = Bind(spec, weights);
    if (spec.is_matrix()) {
      FillMatrix(*matrix, echo && matrix == &weights.wte ? kEchoScale : 1.0f, random, pool,
                 progress);
    } else if (spec.is_vector()) {
      std::fill_n(floats->data(), spec.rows * spec.cols, spec.is_required() ? 1.0f : 0.0f);
    } else {
      for (float& value : std::span(floats->data(), spec.rows * spec.cols)) {
        value = NextNormal(random);
      }
    }
    if (is_quantized(spec)) {
      GPT2_ASSIGN(*matrix, QuantizeToQ4(*matrix, /*gram=*/{}, pool));
      progress.Advance(kQuantizing * spec.rows * spec.cols);
    }
    if (spec.name != "lm_head.bias") weights.parameter_count += spec.rows * spec.cols;
  }
  return Done{};
}

}  // namespace

Status MakeRandomModel(const std::string& config_file, const std::string& out, StoredWeights format,
                       std::uint64_t seed, bool echo, bool force, bool json) {
  const std::vector<fs::path> inputs = {config_file};
  GPT2_TRY(CheckDestination(out, inputs, force));
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
                                                         .inputs = inputs,
                                                         .force = force}));
  PrintNotes(report.leftovers);
  if (json) {
    const Json result = {{"out", out},
                         {"parameters", weights.parameter_count},
                         {"bytes", report.bytes},
                         {"sha256", report.sha256}};
    PrintJson(result);
  } else {
    std::printf("%s: %zu random parameters, %llu bytes\n", Visible(out).c_str(),
                weights.parameter_count, static_cast<unsigned long long>(report.bytes));
  }
  return Done{};
}

}  // namespace gpt2::tools
