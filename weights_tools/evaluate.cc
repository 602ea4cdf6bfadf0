#include <chrono>
#include <cmath>
#include <cstdio>

#include "engine/generate/scorer.h"
#include "weights_tools/progress.h"
#include "weights_tools/runner.h"

namespace gpt2::tools {

Status Evaluate(const std::string& folder, const std::string& file, std::size_t stride,
                const RunOptions& run, bool json) {
  GPT2_ASSIGN(const std::string text, ReadFile(file));
  GPT2_ASSIGN(const auto runner, MakeRunner(folder, run));
  // Documents are separated by the end-of-text token, as in training.
  GPT2_ASSIGN(const auto ids,
              PromptIds(*runner, {.text = text, .ids = {}}, /*allow_special=*/true));
  if (ids.size() < 2) {
    return Error{ErrorCode::kInvalidArgument,
                 file + " has " + std::to_string(ids.size()) + " tokens, at least 2 are needed"};
  }
  if (stride == 0) stride = std::max<std::size_t>(1, runner->context->config().n_positions / 2);
  const auto start = std::chrono::steady_clock::now();
  GPT2_ASSIGN(Scorer scorer, Scorer::Begin(*runner->context, ids, stride));
  {
    Progress progress("evaluating " + folder);
    while (!scorer.is_done()) {
      scorer.Step();
      progress.Update(scorer.logprobs().size(), ids.size() - 1);
    }
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  double sum = 0;
  for (const float logprob : scorer.logprobs()) sum -= logprob;
  const auto count = static_cast<double>(scorer.logprobs().size());
  const Json result = {{"tokens", ids.size()},
                       {"stride", stride},
                       {"loss", sum / count},
                       {"perplexity", std::exp(sum / count)},
                       {"tokens_per_second", count / seconds.count()},
                       {"threads", runner->pool->threads()},
                       {"kernels", runner->compute.kernels->name}};
  if (json) {
    std::printf("%s\n", result.dump().c_str());
  } else {
    std::printf(
        "%s on %s: perplexity %.4f (loss %.5f nats per token), %zu tokens, windows of %zu that "
        "advance by %zu, %.0f tokens/s with %zu threads\n",
        folder.c_str(), file.c_str(), std::exp(sum / count), sum / count, ids.size(),
        runner->context->config().n_positions, stride, count / seconds.count(),
        runner->pool->threads());
  }
  return Done{};
}

}  // namespace gpt2::tools
