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
#include "engine/generate/context.h"
#include "engine/kernels/kernels.h"
#include "engine/model/kv_cache.h"
#include "engine/model/matrix.h"
#include "engine/model/weights.h"
#include "engine/text/tokenizer.h"
#include "weights_tools/commands.h"
#include "weights_tools/model_folder.h"

namespace gpt2::tools {

std::size_t CoreCount() {
  return std::max(1u, std::thread::hardware_concurrency());
}

Result<std::unique_ptr<Runner>> MakeRunner(const std::string& folder, const RunOptions& options) {
  auto runner = std::make_unique<Runner>();
  GPT2_ASSIGN(runner->model, LoadModel(folder, WeightFormat::kF32));
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
                                            bool allow_special) {
  if (!prompt.text) return prompt.ids;
  if (runner.tokenizer() == nullptr) {
    return Error{ErrorCode::kNotFound,
                 "the model folder has no vocab.json and merges.txt: give --ids instead of text"};
  }
  return runner.tokenizer()->Encode(
      *prompt.text, allow_special ? SpecialTokens::kAllowed : SpecialTokens::kAsText);
}

}  // namespace gpt2::tools
