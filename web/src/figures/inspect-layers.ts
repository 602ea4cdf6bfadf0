// Inspects how the model predicts the token after a given one, layer by layer.
import type { Model, TokenLogprob } from "../client/index.js";

/** Number of guesses after each layer. */
export const guessesShown = 5;

export interface InspectEvents {
  /** How many tokens have been read. */
  onRead: (progress: { done: number; total: number }) => void;
  /** The likeliest next tokens after the embedding and after each layer, [nLayer + 1][guessesShown]. */
  onGuesses: (guesses: readonly (readonly TokenLogprob[])[]) => void;
  /** The attention of each head of `layer` to each id, [nHead, ids]: first the wanted layer, then all others. */
  onAttention: (layer: number, attention: Float32Array) => void;
}

/** Inspects `layer` first, then all others. Rejects with an AbortError once `signal` is aborted. */
export async function inspectLayers(
  model: Pick<Model, "info" | "inspect">,
  ids: readonly number[],
  layer: number,
  signal: AbortSignal,
  { onRead, onGuesses, onAttention }: InspectEvents,
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
