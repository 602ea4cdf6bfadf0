// What is asked of the model to see how it makes of one token what comes after it.
import type { Model, TokenLogprob } from "../../../src/client/index.js";

/** Guesses after each layer. */
export const guessesShown = 5;

/** A token, as the model sees it: with what stands before it, as far as the context reaches. */
export interface Chosen {
  /** Up to the chosen one, which is the last. */
  ids: readonly number[];
  /** Tokens of the text before the first of them. */
  first: number;
}

export interface LookEvents {
  /** Tokens that have been read. */
  onRead: (progress: { done: number; total: number }) => void;
  /** The likeliest next tokens after the embedding and after each layer, [nLayer + 1][guessesShown]. */
  onGuesses: (guesses: readonly (readonly TokenLogprob[])[]) => void;
  /** What each head of `layer` takes of each of the ids, [nHead, ids]: first the layer that was asked for, then all others. */
  onAttention: (layer: number, attention: Float32Array) => void;
}

/** What a model of so many positions sees of `ids`. */
export function chooseLast(ids: readonly number[], nPositions: number): Chosen {
  const first = Math.max(0, ids.length - nPositions);
  return { ids: ids.slice(first), first };
}

/** Looks at `layer` first, then at all others; rejects with an AbortError once `signal` says so. */
export async function lookInside(
  model: Pick<Model, "info" | "inspect">,
  ids: readonly number[],
  layer: number,
  signal: AbortSignal,
  { onRead, onGuesses, onAttention }: LookEvents,
): Promise<void> {
  const first = { layer, top: guessesShown, signal, onProgress: onRead };
  const { guesses, attention } = await model.inspect(ids, first);
  signal.throwIfAborted();
  onGuesses(guesses);
  onAttention(layer, attention);
  for (let other = 0; other < model.info.config.nLayer; ++other) {
    if (other === layer) continue;
    const look = await model.inspect(ids, { layer: other, top: 0, signal });
    signal.throwIfAborted();
    onAttention(other, look.attention);
  }
}
