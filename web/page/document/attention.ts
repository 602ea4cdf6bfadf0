// The attention weights of one head, which tint the text. An edit removes them.
import { StateEffect, StateField } from "@codemirror/state";
import type { Scored } from "./scored.js";

/** The attention of one head, from one token of the text to itself and those before it. */
export interface AttentionRow {
  /** Index in the text of the first token that has a weight. */
  first: number;
  /** The weight of each token from `first` on; the last token is the query. */
  weights: Float32Array;
}

export const setAttention = StateEffect.define<AttentionRow | null>();

export const attentionField = StateField.define<AttentionRow | null>({
  create: () => null,
  update(attended, { docChanged, effects }) {
    const set = effects.find((effect) => effect.is(setAttention));
    if (set) return set.value;
    return docChanged ? null : attended;
  },
});

/** Smallest weight of each band. */
const leastOf = [0.5, 0.2, 0.05, 0.01, 0] as const;
/** The bands, from the most attention to the least. */
export const attentionBands = [0, 1, 2, 3, 4] as const;

/** The attention that `token` gets, from 0 to 1; undefined for a token that the head cannot see. */
export function weightOf({ first, weights }: AttentionRow, { index, ids }: Scored): number | undefined {
  const at = index - first;
  if (at < 0 || at >= weights.length) return undefined;
  return weights.subarray(at, at + ids.length).reduce((sum, weight) => sum + weight, 0);
}

export const bandOfWeight = (weight: number): number => leastOf.findIndex((least) => weight >= least);

/** Whether `token` contains the query, the token that attends. */
export function isQueryToken({ first, weights }: AttentionRow, { index, ids }: Scored): boolean {
  const last = first + weights.length - 1;
  return index <= last && last < index + ids.length;
}
