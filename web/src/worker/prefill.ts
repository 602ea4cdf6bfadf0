// Prefills a text before the generation that needs it, while the engine is idle.
import type { PrefillRequest } from "../shared/protocol.js";
import type { Prefilled, PromptProgress } from "../shared/types.js";
import type { Engine } from "./engine.js";
import { yieldToMessages } from "./yield-to-messages.js";

interface Surroundings {
  signal: AbortSignal;
  tell: (progress: PromptProgress) => void;
  /** Whether another request waits for the KV cache. The prefill then ends and keeps what it has computed. */
  isOvertaken: () => boolean;
  /** Lets requests run that do not need the cache. */
  letOthersIn: () => Promise<void>;
}

/** Stops within one step (some tokens) of the signal's abort or of a request that needs the cache. */
export async function prefill(
  engine: Engine,
  { prompt, allowSpecial }: PrefillRequest,
  { signal, tell, isOvertaken, letOthersIn }: Surroundings,
): Promise<Prefilled> {
  if (prompt.length === 0) return { promptTokens: 0, reusedTokens: 0, cachedTokens: 0 };
  engine.start("_gpt2_generate", prompt, { maxNewTokens: 0, n: 1, strict: false, allowSpecial });
  let step = engine.output();
  const reusedTokens = step.done;
  while (step.done < step.total - 1) {
    await yieldToMessages();
    signal.throwIfAborted();
    if (isOvertaken()) break;
    await letOthersIn();
    if (isOvertaken()) break;
    step = engine.step("_gpt2_prefill_step");
    tell({ done: step.done, total: step.total });
  }
  return { promptTokens: step.total, reusedTokens, cachedTokens: step.done };
}
