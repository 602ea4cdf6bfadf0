// Scores one text, some tokens at a time.
import type { ScoreRequest } from "../shared/protocol.js";
import type { Score, ScoreProgress } from "../shared/types.js";
import type { Engine } from "./engine.js";
import { yieldToMessages } from "./yield-to-messages.js";

export async function score(
  engine: Engine,
  { prompt, change: _, ...options }: ScoreRequest,
  /** Changes in the forward pass: see gpt2_set_hooks. */
  hooks: readonly number[] | undefined,
  signal: AbortSignal,
  tell: (progress: ScoreProgress) => void,
): Promise<Score> {
  const tokens: Score["tokens"] = [];
  let logprob = 0;
  let predicted = 0;
  engine.start("_gpt2_score", prompt, options, hooks);
  let step = engine.output();
  for (;;) {
    const scored = step.tokens.map((token) => {
      const { id, text } = token;
      const isFirst = Number.isNaN(token.logprob); // the first token has no context
      if (!isFirst) {
        logprob += token.logprob;
        predicted += 1;
      }
      return { id, text, logprob: isFirst ? null : token.logprob, rank: isFirst ? null : token.rank };
    });
    tokens.push(...scored);
    tell({ done: step.done, total: step.total, tokens: scored });
    if (step.isDone) break;
    await yieldToMessages();
    signal.throwIfAborted();
    step = engine.step("_gpt2_score_step");
  }
  const perplexity = predicted > 0 ? Math.exp(-logprob / predicted) : null;
  return { tokens, logprob, perplexity };
}
