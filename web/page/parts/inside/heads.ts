// What a head looks at, in short.

/** Where most of a head's attention goes. */
export const glances = ["first", "before", "self", "elsewhere"] as const;
export type Glance = (typeof glances)[number];

export interface Look {
  /** Which of the tokens, from 0. */
  index: number;
  /** Of the head's attention, from 0 to 1. */
  share: number;
}

export type Weights = ArrayLike<number>;

/** The row of `head` in the attention of a layer, [nHead, tokens]. */
export const rowOf = (attention: Float32Array, head: number, tokens: number): Float32Array =>
  attention.subarray(head * tokens, (head + 1) * tokens);

/** The tokens with at least `least` of the attention, the most first, and at most `count` of them. */
export function strongest(weights: Weights, count: number, least: number): Look[] {
  return Array.from(weights, (share, index) => ({ index, share }))
    .filter(({ share }) => share >= least)
    .sort((a, b) => b.share - a.share || b.index - a.index)
    .slice(0, count);
}

/** What most of the attention goes to, seen from the last token; a text of one token has but itself. */
export function glanceOf(weights: Weights): Look & { glance: Glance } {
  const last = weights.length - 1;
  let index = 0;
  for (let each = 1; each <= last; ++each) {
    if ((weights[each] ?? 0) >= (weights[index] ?? 0)) index = each;
  }
  const places: readonly (readonly [number, Glance])[] = [
    [last, "self"],
    [0, "first"],
    [last - 1, "before"],
  ];
  const glance = places.find(([place]) => place === index)?.[1] ?? "elsewhere";
  return { index, share: weights[index] ?? 0, glance };
}

/** The first stage from which on the top guess stays what it is at the end; stage 0 is the embedding, i layer i. */
export function settledAt(guesses: readonly (readonly { id: number }[])[]): number {
  const last = guesses.at(-1)?.[0]?.id;
  return guesses.map(([guess]) => guess?.id === last).lastIndexOf(false) + 1;
}
