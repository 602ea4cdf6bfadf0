// Scores one text, some tokens at a time.
import type { ScoreRequest } from "../shared/protocol.js";
import type { PromptProgress, Score } from "../shared/types.js";
import type { Engine } from "./engine.js";
import { yieldToMessages } from "./yield-to-messages.js";

/** How far a scoring is, and the tokens that are new: see gpt2_score in engine/api/api.h. */
type Step = PromptProgress & { tokens: Score["tokens"] };

export async function score(
  engine: Engine,
  { prompt, stride }: ScoreRequest,
  signal: AbortSignal,
  tell: (progress: PromptProgress) => void,
): Promise<Score> {
  const tokens: Score["tokens"] = [];
  let logprob = 0;
  let step = engine.start("_gpt2_score", prompt, { stride }) as Step;
  for (;;) {
    for (const token of step.tokens) {
      tokens.push(token);
      logprob += token.logprob ?? 0;
    }
    tell({ done: step.done, total: step.total });
    if (step.done === step.total) break;
    await yieldToMessages();
    signal.throwIfAborted();
    step = engine.call("_gpt2_score_step") as Step;
  }
  // The first token is not counted: nothing stands before it.
  const perplexity = tokens.length > 1 ? Math.exp(-logprob / (tokens.length - 1)) : null;
  return { tokens, logprob, perplexity };
}
