#include "weights_tools/runner.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/thread_pool.h"
#include "engine/format/config_json.h"
#include "engine/format/stored_weights.h"
#include "engine/generate/context.h"
#include "engine/kernels/kernels.h"
#include "engine/model/kv_cache.h"
#include "engine/model/weight_format.h"
#include "engine/model/weights.h"
#include "engine/text/text_encoder.h"
#include "engine/text/tokenizer.h"
#include "weights_tools/commands.h"
#include "weights_tools/model_folder.h"
#include "weights_tools/standard_streams.h"

namespace gpt2::tools {

std::size_t CoreCount() {
  return std::max(1u, std::thread::hardware_concurrency());
}

Result<std::unique_ptr<Runner>> MakeRunner(const std::string& folder, const RunOptions& options,
                                           WeightFormat hub_format) {
  auto runner = std::make_unique<Runner>();
  WeightFormat converted_format = WeightFormat::kF32;  // a folder converted to floats keeps them
  for (const WeightFormatInfo& info : kWeightFormats) {
    if (options.weights == info.name) hub_format = converted_format = info.format;
  }
  GPT2_ASSIGN(runner->model, LoadModel(folder, hub_format, converted_format, options.adapters));
  PrintNotes(runner->model.warnings);
  const std::optional<StoredWeights> stored = runner->model.config.weights;
  if (options.weights && stored && InfoOf(*stored).has_codes() &&
      *options.weights != StoredWeightsName(*stored)) {
    return Error{ErrorCode::kInvalidArgument, folder + " is already converted to " +
                                                  std::string(StoredWeightsName(*stored)) +
                                                  ": leave out --weights"};
  }
  runner->pool = std::make_unique<ThreadPool>(options.threads == 0 ? CoreCount() : options.threads);
  const KernelTable* kernels = &BestKernels();
  for (const KernelTable* table : KernelTables()) {
    if (options.kernels && table->name == *options.kernels) kernels = table;
  }
  runner->compute = {kernels, runner->pool.get()};
  const std::optional<KvFormat> kv = options.kv ? KvFormatNamed(*options.kv) : std::nullopt;
  const Weights& weights = *runner->model.weights;
  GPT2_ASSIGN(runner->context, Context::Create(weights, runner->compute,
                                               kv.value_or(DefaultKvFormat(weights.format()))));
  return runner;
}

Result<std::vector<std::int32_t>> PromptIds(const Runner& runner, const Prompt& prompt,
                                            bool allow_special, TextEnds ends) {
  if (!prompt.text) return prompt.ids;
  if (runner.tokenizer() == nullptr) {
    return Error{ErrorCode::kNotFound, "the model has no tokenizer: give --ids instead of text"};
  }
  return runner.tokenizer()->Encode(
      *prompt.text, allow_special ? SpecialTokens::kAllowed : SpecialTokens::kAsText, ends);
}

}  // namespace gpt2::tools
