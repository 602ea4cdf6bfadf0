// Predicts the next token at a place of the text.
import type { Model, TokenLogprob } from "../../src/client/index.js";
import type { ContextFields } from "../state/context-fields.js";
import { promptOf } from "./compose.js";
import { withSpecialTokens } from "./special-tokens.js";

/** The most tokens that the engine returns. */
const most = 100;

/** A probable token and its rank. */
export type RankedToken = TokenLogprob & { rank: number };

export interface Prediction {
  /** The most probable tokens, first the most probable. */
  top: readonly TokenLogprob[];
  /** A lower bound in bits: unlisted tokens count as no less probable than the last listed one. */
  entropy: number;
}

/** Predicts the token after `context`, of at most as many tokens as the model holds. Undefined for an empty context. */
export async function predict(
  model: Model,
  context: readonly number[],
  signal: AbortSignal,
): Promise<Prediction | undefined> {
  if (context.length === 0) return undefined;
  const { tokens } = await model.complete(context, {
    maxNewTokens: 1,
    temperature: 0,
    logprobs: Math.min(most, model.info.config.vocabSize),
    ignoreEos: true,
    signal,
  });
  const top = tokens[0]?.top ?? [];
  const last = top.at(-1)?.logprob ?? 0;
  const rest = Math.max(0, 1 - top.reduce((sum, { logprob }) => sum + Math.exp(logprob), 0));
  const nats = top.reduce((sum, { logprob }) => sum - Math.exp(logprob) * logprob, -rest * last);
  return { top, entropy: nats / Math.LN2 };
}

/** Predicts the token that continues `text`, as the model reads it with the two fields. */
export async function predictAfter(
  model: Model,
  text: string,
  fields: ContextFields | undefined,
  signal: AbortSignal,
): Promise<Prediction | undefined> {
  const prompt = await promptOf(model, text, fields, signal);
  const ids = await model.tokenize(prompt, { ...withSpecialTokens, signal });
  return predict(model, ids.slice(1 - model.info.config.nPositions), signal);
}
