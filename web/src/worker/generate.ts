// Runs one generation, step by step.
import type { GenerateRequest } from "../shared/protocol.js";
import type { GenerateSummary, PromptProgress, Token } from "../shared/types.js";
import type { ReadAhead } from "./read-ahead.js";
import type { Engine } from "./engine.js";
import { yieldToMessages } from "./yield-to-messages.js";

/** The results of gpt2_generate and gpt2_summary in engine/api/api.h. */
interface Begun {
  promptTokens: number;
  reusedTokens: number;
  healedTokens: number;
}
type Summary = Pick<GenerateSummary, "finishReasons" | "droppedTokens"> &
  Pick<GenerateSummary["timings"], "draftedTokens" | "acceptedTokens">;

/**
 * After this time, the worker posts the new tokens and reads its messages. A small model writes several tokens in it. A
 * message for each token would keep the page's thread as busy as the model.
 */
const yieldMs = 4;

export interface Surroundings {
  signal: AbortSignal;
  tell: (event: { tokens: Token[] } | { prompt: PromptProgress }) => void;
  /** For tokens that are sent. */
  readAhead: ReadAhead;
  /** Lets others use the engine until `ready` resolves and it is this request's turn again. */
  pause: (ready: Promise<void>) => Promise<void>;
  /** Changes in the forward pass: see gpt2_set_hooks. */
  hooks?: readonly number[] | undefined;
}

/** Lets others use the engine until the reader has caught up. Returns how long that took, in milliseconds. */
async function waitForReader(engine: Engine, { signal, readAhead, pause }: Surroundings): Promise<number> {
  const start = performance.now();
  const generation = engine.call("_gpt2_suspend") as number;
  try {
    await pause(readAhead.wait(signal));
  } catch (error) {
    engine.discard(generation);
    throw error;
  }
  engine.resume(generation);
  return performance.now() - start;
}

/** Stops within one step (one token, or a batch of the prompt) or a few milliseconds of the signal's abort. */
export async function generate(
  engine: Engine,
  { prompt, options }: GenerateRequest,
  surroundings: Surroundings,
): Promise<GenerateSummary> {
  const { signal, tell, readAhead } = surroundings;
  const start = performance.now();
  const seed = options.seed ?? crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
  const begun = engine.start("_gpt2_generate", prompt, { ...options, seed }, surroundings.hooks) as Begun;
  let step = engine.output();
  const computed = step.total - step.done;
  let firstTokenAt: number | undefined;
  let tokens = 0;
  /** Tokens of the first step that gave any: their time is that of the prompt. */
  let firstTokens = 0;
  let untold: Token[] = [];
  const tellTokens = () => {
    if (untold.length > 0) tell({ tokens: untold });
    untold = [];
  };
  let pausedMs = 0;
  let yieldedAt = start;
  while (!step.isDone) {
    try {
      step = engine.step("_gpt2_step");
    } catch (error) {
      tellTokens();
      throw error;
    }
    untold.push(...step.tokens);
    tokens += step.tokens.length;
    readAhead.spend(step.tokens.length);
    const now = performance.now();
    if (tokens > 0 && firstTokenAt === undefined) {
      firstTokenAt = now;
      firstTokens = tokens;
      tellTokens();
    } else if (tokens === 0 && step.done < step.total) {
      tell({ prompt: { done: step.done, total: step.total } }); // a healed end takes more steps once all is read
    }
    if (now - yieldedAt < yieldMs && !step.isDone && !readAhead.isSpent) continue;
    tellTokens();
    await yieldToMessages();
    signal.throwIfAborted();
    if (readAhead.isSpent && !step.isDone) pausedMs += await waitForReader(engine, surroundings);
    yieldedAt = performance.now();
  }
  const end = performance.now() - pausedMs;
  const summary = engine.call("_gpt2_summary") as Summary;
  const firstTokenMs = (firstTokenAt ?? end) - start;
  const decoded = tokens - firstTokens;
  const rate = (count: number, ms: number) => (ms > 0 ? (1000 * count) / ms : 0);
  return {
    finishReason: summary.finishReasons[0] ?? "length",
    finishReasons: summary.finishReasons,
    seed,
    promptTokens: begun.promptTokens,
    reusedTokens: begun.reusedTokens,
    healedTokens: begun.healedTokens,
    droppedTokens: summary.droppedTokens,
    timings: {
      firstTokenMs,
      totalMs: end - start,
      promptTokens: computed,
      promptTokensPerSecond: rate(computed, firstTokenMs),
      decodedTokens: decoded,
      decodedTokensPerSecond: rate(decoded, end - start - firstTokenMs),
      draftedTokens: summary.draftedTokens,
      acceptedTokens: summary.acceptedTokens,
    },
  };
}
