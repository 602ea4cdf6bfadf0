// Runs one generation, a token at a time.
import type { GenerateRequest } from "../shared/protocol.js";
import type { FinishReason, GenerateSummary, PromptProgress, Token } from "../shared/types.js";
import type { Engine } from "./engine.js";
import { yieldToMessages } from "./yield-to-messages.js";

type Finish = FinishReason | "none";

interface Begun {
  promptTokens: number;
  reusedTokens: number;
  droppedTokens: number;
  finishReason: Finish;
}

interface Step {
  token?: Token;
  promptDone: number;
  promptTotal: number;
  droppedTokens: number;
  finishReason: Finish;
}

/** Stops within one step (one token, or a batch of the prompt) of the signal's abort. */
export async function generate(
  engine: Engine,
  { prompt, options }: GenerateRequest,
  signal: AbortSignal,
  tell: (event: { token: Token } | { prompt: PromptProgress }) => void,
): Promise<GenerateSummary> {
  const start = performance.now();
  const seed = options.seed ?? crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
  const begun = engine.request("_gpt2_generate", { prompt, options: { ...options, seed } }) as Begun;
  let { droppedTokens, finishReason } = begun;
  let firstTokenAt: number | undefined;
  let tokens = 0;
  while (finishReason === "none") {
    const step = engine.call("_gpt2_step") as Step;
    ({ droppedTokens, finishReason } = step);
    if (step.token) {
      tokens += 1;
      firstTokenAt ??= performance.now();
      tell({ token: step.token });
    } else {
      tell({ prompt: { done: step.promptDone, total: step.promptTotal } });
    }
    await yieldToMessages();
    signal.throwIfAborted();
  }
  const end = performance.now();
  const firstTokenMs = (firstTokenAt ?? end) - start;
  const computed = begun.promptTokens - begun.reusedTokens;
  const decoded = Math.max(0, tokens - 1);
  const rate = (count: number, ms: number) => (ms > 0 ? (1000 * count) / ms : 0);
  return {
    finishReason,
    seed,
    promptTokens: begun.promptTokens,
    reusedTokens: begun.reusedTokens,
    droppedTokens,
    timings: {
      firstTokenMs,
      totalMs: end - start,
      promptTokens: computed,
      promptTokensPerSecond: rate(computed, firstTokenMs),
      decodedTokens: decoded,
      decodedTokensPerSecond: rate(decoded, end - start - firstTokenMs),
    },
  };
}
