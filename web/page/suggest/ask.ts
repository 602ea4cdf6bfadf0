// Asking the model for three ways to go on, in one pass.
import type { GenerateOptions, Model } from "../../src/client/index.js";
import { cut, piecesOf, textOf, type Piece } from "../editor/pieces.js";
import { suggestedLength } from "./words.js";

export const wanted = 3;
/** Tokens of each: a few words. */
const tokensOfEach = 8;
/** Passes at most, where the model is so sure of itself that two of three are the same. */
const mostPasses = 3;

/**
 * Calls `found` with what there is to suggest after `text`, first after one pass; then, where some of it was the same,
 * with others beside it.
 */
export async function askForSuggestions(
  model: Model,
  text: string,
  sampling: GenerateOptions,
  signal: AbortSignal,
  found: (items: readonly (readonly Piece[])[]) => void,
): Promise<void> {
  const items = new Map<string, readonly Piece[]>();
  for (let pass = 0; pass < mostPasses && items.size < wanted; pass += 1) {
    const { continuations } = await model.complete(text, {
      ...sampling,
      // What is always the same at the visitor's temperature is asked for at a higher one.
      ...(pass > 0 && { temperature: Math.max(sampling.temperature ?? 0.8, 0.8) + pass * 0.4, topP: 1 }),
      ...(sampling.seed !== undefined && { seed: sampling.seed + pass * wanted }),
      n: wanted,
      maxNewTokens: tokensOfEach,
      heal: model.info.hasTokenizer, // in the middle of a word, that word
      signal,
    });
    const before = items.size;
    for (const { tokens, finishReason } of continuations) {
      const pieces = piecesOf(tokens);
      const [item] = cut(pieces, suggestedLength(textOf(pieces), finishReason === "length"));
      const key = textOf(item).trim();
      // One that another goes on from says nothing more than that.
      const isSaid = [...items.keys()].some((other) => other.startsWith(key) || key.startsWith(other));
      if (items.size < wanted && !isSaid && key !== "") items.set(key, item);
    }
    if (items.size > before) found([...items.values()]);
  }
}
