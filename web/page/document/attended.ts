// What a head of the model looks at, as the text is tinted by it. An edit makes it stale.
import { StateEffect, StateField } from "@codemirror/state";
import type { Scored } from "./scored.js";

/** The attention of one head, from one token of the text to itself and those before it. */
export interface Attended {
  /** Tokens of the text before the first that is weighed. */
  first: number;
  /** Of each token; the last is the one that looks. */
  weights: Float32Array;
}

export const setAttended = StateEffect.define<Attended | null>();

export const attendedField = StateField.define<Attended | null>({
  create: () => null,
  update(attended, { docChanged, effects }) {
    const set = effects.find((effect) => effect.is(setAttended));
    if (set) return set.value;
    return docChanged ? null : attended;
  },
});

/** Smallest weight of each band. */
const leastOf = [0.5, 0.2, 0.05, 0.01, 0] as const;
/** The bands, from the most attention to the least. */
export const lookBands = [0, 1, 2, 3, 4] as const;

/** How much of the attention `token` has; undefined for those that the head cannot see. */
export function weightOf({ first, weights }: Attended, { index, ids }: Scored): number | undefined {
  const at = index - first;
  if (at < 0 || at >= weights.length) return undefined;
  return weights.subarray(at, at + ids.length).reduce((sum, weight) => sum + weight, 0);
}

export const bandOfWeight = (weight: number): number => leastOf.findIndex((least) => weight >= least);

/** Whether `token` is the one that looks. */
export function isLooking({ first, weights }: Attended, { index, ids }: Scored): boolean {
  const last = first + weights.length - 1;
  return index <= last && last < index + ids.length;
}
