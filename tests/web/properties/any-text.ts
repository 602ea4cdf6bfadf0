// Draws texts and values for properties: mostly right ones, because a parser stops at the first wrong one.
import * as fc from "fast-check";

/** Any UTF-16 code unit, also half a surrogate pair. */
const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));

/** At most `maxLength` of `pieces`, with other characters in between. */
export const textOf = (pieces: readonly string[], maxLength = 8): fc.Arbitrary<string> =>
  fc
    .array(fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...pieces) }, unit), { maxLength })
    .map((parts) => parts.join(""));

/** One of `rights`, or one time in twenty one of `wrongs`. */
export const mostly = (rights: fc.Arbitrary<unknown>, wrongs: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 19, arbitrary: rights }, { weight: 1, arbitrary: wrongs });

export interface Damage {
  /** Chooses among the keys at each depth. */
  path: readonly number[];
  value: unknown;
}

/** `value` with something else at the end of a path, which may also be a new member. */
export function damaged(value: unknown, { path: [step, ...path], value: other }: Damage): unknown {
  if (step === undefined || typeof value !== "object" || value === null) return other;
  const keys = Object.keys(value);
  const key = keys[step % (keys.length + 1)] ?? (Array.isArray(value) ? String(keys.length) : "odd");
  const copy = Object.assign(Array.isArray(value) ? [] : {}, value) as Record<string, unknown>;
  copy[key] = damaged(copy[key], { path, value: other });
  return copy;
}
