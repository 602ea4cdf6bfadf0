// Log-probabilities in the form of /v1/completions, for the text and the prompt.
import type { Model, Token } from "../client/index.js";
import type { CompletionLogprobs } from "./types.js";

/** A token of a prompt or of a text. The first token of all has no logprob. */
export type LogprobToken = Pick<Token, "id" | "text" | "top"> & { logprob: number | null };

/** The log-probabilities of `tokens`, whose first begins at `offset`. */
export function logprobsOf(
  tokens: readonly LogprobToken[],
  offset: number,
  alternatives: number,
): CompletionLogprobs {
  let next = offset;
  return {
    tokens: tokens.map(({ text }) => text),
    token_logprobs: tokens.map(({ logprob }) => logprob),
    top_logprobs: alternatives === 0 ? null : tokens.map(topOf),
    text_offset: tokens.map(({ text }) => {
      const at = next;
      next += text.length;
      return at;
    }),
  };
}

function topOf({ id, text, logprob, top }: LogprobToken): Record<string, number> | null {
  if (logprob === null) return null;
  const entries = (top ?? []).map((each) => [each.text, each.logprob] as const);
  if (!top?.some((each) => each.id === id)) entries.push([text, logprob]);
  return Object.fromEntries(entries);
}

/** The tokens of a prompt, each with its alternatives. */
export async function scorePrompt(
  model: Model,
  prompt: string | number[],
  alternatives: number,
  signal: AbortSignal | undefined,
): Promise<LogprobToken[]> {
  const ids = typeof prompt === "string" ? await model.tokenize(prompt, { signal }) : prompt;
  if (ids.length === 0) return [];
  const { tokens } = await model.score(ids, { signal });
  if (alternatives === 0) return tokens;
  const whole: LogprobToken[] = [];
  for (const [index, token] of tokens.entries()) {
    // The text before is already computed, so each token costs one step.
    const call = { maxNewTokens: 1, temperature: 0, logprobs: alternatives, ignoreEos: true, signal };
    const next = index === 0 ? undefined : await model.complete(ids.slice(0, index), call);
    whole.push({ ...token, ...(next?.tokens[0]?.top && { top: next.tokens[0].top }) });
  }
  return whole;
}
