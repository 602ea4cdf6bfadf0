// `gpt2-weights generate`: continues a prompt on standard output.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/format/json.h"
#include "engine/generate/options.h"
#include "engine/generate/session.h"
#include "engine/text/text_encoder.h"
#include "weights_tools/commands.h"
#include "weights_tools/runner.h"
#include "weights_tools/standard_streams.h"

namespace gpt2::tools {

Status Generate(const std::string& folder, const Prompt& prompt,
                const std::vector<SetOption>& wanted, const RunOptions& run, bool json) {
  GPT2_ASSIGN(const auto runner, MakeRunner(folder, run));
  GenerateOptions options = runner->model.defaults;
  for (const SetOption& set : wanted) set(options);
  GPT2_ASSIGN(const auto ids,
              PromptIds(*runner, prompt, options.allow_special, TextEnds::kBeginning));
  GPT2_ASSIGN(Session session, Session::Begin(*runner->context, runner->tokenizer(), ids, options));
  struct Written {
    std::vector<std::int32_t> ids;
    std::vector<float> logprobs;  // of the ids, from the model itself
    std::string text;             // of all tokens, or their ids without a vocabulary
  };
  std::vector<Written> written(session.continuations());
  const bool streams = !json && written.size() == 1;
  while (!session.is_done()) {
    GPT2_ASSIGN(const auto tokens, session.Step());
    for (const GeneratedToken& token : tokens) {
      Written& continuation = written[token.continuation];
      const std::string text =
          runner->tokenizer() != nullptr ? token.text : std::to_string(token.id) + " ";
      continuation.ids.push_back(token.id);
      continuation.logprobs.push_back(token.logprob);
      continuation.text += text;
      if (!streams) continue;
      PrintModelText(text);
      GPT2_TRY(FlushStandardOutput());
    }
  }
  if (!json) {
    for (std::size_t i = 0; !streams && i < written.size(); ++i) {
      std::printf("--- %zu\n", i);
      PrintModelText(written[i].text + "\n");
    }
    if (streams) std::printf("\n");
    if (session.dropped_tokens() > 0) {
      PrintNotes({"the model no longer reads the first " +
                  std::to_string(session.dropped_tokens()) + " tokens, because its context holds " +
                  std::to_string(runner->context->config().n_positions)});
    }
    return Done{};
  }
  Json continuations = Json::array();
  for (std::size_t i = 0; i < written.size(); ++i) {
    continuations.push_back(
        {{"ids", written[i].ids},
         {"logprobs", written[i].logprobs},
         {"text", runner->tokenizer() != nullptr ? written[i].text : std::string()},
         {"finish_reason", FinishReasonName(session.finish(i))}});
  }
  Json result = continuations[0];
  if (written.size() > 1) result = {{"continuations", continuations}};
  result["dropped_tokens"] = session.dropped_tokens();
  result["drafted_tokens"] = session.drafted_tokens();
  result["accepted_tokens"] = session.accepted_tokens();
  PrintJson(result);
  return Done{};
}

}  // namespace gpt2::tools
