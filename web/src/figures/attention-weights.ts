// Summaries of heads' attention weights.
import type { HeadPlace } from "./types.js";

/** The places that get most of a head's attention. */
export const mainTargets = ["first", "before", "self", "elsewhere"] as const;
export type MainTarget = (typeof mainTargets)[number];

export interface WeighedToken {
  /** The index of the token, from 0. */
  index: number;
  /** Share of the head's attention, from 0 to 1. */
  share: number;
}

export type Weights = ArrayLike<number>;

/** The row of `head` in the attention of a layer, [nHead, tokens]. */
export const rowOf = (attention: Float32Array, head: number, tokens: number): Float32Array =>
  attention.subarray(head * tokens, (head + 1) * tokens);

/** The tokens with at least `least` of the attention, those with most first, and at most `count` of them. */
export function topWeights(weights: Weights, count: number, least: number): WeighedToken[] {
  return Array.from(weights, (share, index) => ({ index, share }))
    .filter(({ share }) => share >= least)
    .sort((a, b) => b.share - a.share || b.index - a.index)
    .slice(0, count);
}

/** The token with the most attention from the last token. */
export function mainTargetOf(weights: Weights): WeighedToken & { glance: MainTarget } {
  const last = weights.length - 1;
  let index = 0;
  for (let each = 1; each <= last; ++each) {
    if ((weights[each] ?? 0) >= (weights[index] ?? 0)) index = each;
  }
  const places: readonly (readonly [number, MainTarget])[] = [
    [last, "self"],
    [0, "first"],
    [last - 1, "before"],
  ];
  const glance = places.find(([place]) => place === index)?.[1] ?? "elsewhere";
  return { index, share: weights[index] ?? 0, glance };
}

/** The head that looks most clearly at one token, but not at the first or itself, as many heads do; else the first head. */
export function clearestHead(layers: readonly Float32Array[], tokens: number): HeadPlace {
  let clearest = { layer: 0, head: 0, share: 0 };
  for (const [layer, attention] of layers.entries()) {
    for (let head = 0; head < attention.length / tokens; ++head) {
      const { glance, share } = mainTargetOf(rowOf(attention, head, tokens));
      if (glance !== "first" && glance !== "self" && share > clearest.share)
        clearest = { layer, head, share };
    }
  }
  return { layer: clearest.layer, head: clearest.head };
}

/** The first stage from which on the top guess is the final one; stage 0 is the embedding, i layer i. */
export function settledStage(guesses: readonly (readonly { id: number }[])[]): number {
  const last = guesses.at(-1)?.[0]?.id;
  return guesses.map(([guess]) => guess?.id === last).lastIndexOf(false) + 1;
}
