// Scores one text, some tokens at a time.
import type { ScoreRequest } from "../shared/protocol.js";
import type { PromptProgress, Score } from "../shared/types.js";
import type { Engine } from "./engine.js";
import { yieldToMessages } from "./yield-to-messages.js";

export async function score(
  engine: Engine,
  { prompt, stride }: ScoreRequest,
  signal: AbortSignal,
  tell: (progress: PromptProgress) => void,
): Promise<Score> {
  engine.request("_gpt2_score", stride === undefined ? { prompt } : { prompt, stride });
  for (;;) {
    const step = engine.call("_gpt2_score_step") as PromptProgress & Partial<Score>;
    tell({ done: step.done, total: step.total });
    if (step.tokens !== undefined) {
      return { tokens: step.tokens, logprob: step.logprob ?? 0, perplexity: step.perplexity ?? null };
    }
    await yieldToMessages();
    signal.throwIfAborted();
  }
}
