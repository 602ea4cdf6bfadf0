// A loaded model with everything that runs it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/thread_pool.h"
#include "engine/generate/context.h"
#include "engine/model/matrix.h"
#include "weights_tools/commands.h"
#include "weights_tools/model_folder.h"

namespace gpt2::tools {

// Owns a model and its context. Does not move: the context borrows from it.
struct Runner {
  LoadedModel model;
  std::unique_ptr<ThreadPool> pool;
  Compute compute{};
  std::optional<Context> context;

  const Tokenizer* tokenizer() const { return model.tokenizer ? &*model.tokenizer : nullptr; }
};

// The default number of threads: one per core.
std::size_t CoreCount();

// Prints the ignored settings of the model. A float model gets the format of the options, or else
// `hub_format`: by default 8 bits, as on the page.
Result<std::unique_ptr<Runner>> MakeRunner(const std::string& folder, const RunOptions& options,
                                           WeightFormat hub_format = WeightFormat::kQ8);

// The prompt's ids. A text is an error if the folder has no tokenizer.
Result<std::vector<std::int32_t>> PromptIds(const Runner& runner, const Prompt& prompt,
                                            bool allow_special, TextEnds ends);

}  // namespace gpt2::tools
