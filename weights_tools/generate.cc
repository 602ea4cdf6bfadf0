#include <cstdio>

#include "engine/generate/session.h"
#include "weights_tools/runner.h"

namespace gpt2::tools {

Status Generate(const std::string& folder, const Prompt& prompt, const GenerateOptions& options,
                const RunOptions& run, bool json) {
  GPT2_ASSIGN(const auto runner, MakeRunner(folder, run));
  GPT2_ASSIGN(const auto ids, PromptIds(*runner, prompt, options.allow_special));
  GPT2_ASSIGN(Session session, Session::Begin(*runner->context, runner->tokenizer(), ids, options));
  Json result = {{"ids", Json::array()}, {"text", ""}};
  std::string text;
  while (session.finish() == FinishReason::kNone) {
    const StepResult step = session.Step();
    if (!step.token) continue;
    result["ids"].push_back(step.token->id);
    text += step.token->text;
    if (json) continue;
    if (runner->tokenizer() != nullptr) {
      std::fwrite(step.token->text.data(), 1, step.token->text.size(), stdout);
    } else {
      std::printf("%d ", step.token->id);
    }
    std::fflush(stdout);
  }
  if (!json) {
    std::printf("\n");
    if (session.dropped_tokens() > 0) {
      std::fprintf(stderr, "the first %zu tokens no longer fit the context of %zu\n",
                   session.dropped_tokens(), runner->context->config().n_positions);
    }
    return Done{};
  }
  result["text"] = text;
  result["finish_reason"] = FinishReasonName(session.finish());
  result["dropped_tokens"] = session.dropped_tokens();
  std::printf("%s\n", result.dump().c_str());
  return Done{};
}

}  // namespace gpt2::tools
