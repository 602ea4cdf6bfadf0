// Draws texts and values for properties: mostly right ones, because a parser stops at the first wrong one.
import * as fc from "fast-check";

/** At most `maxLength` of `pieces`, with any other UTF-16 code units in between. */
export function textOf(pieces: readonly string[], maxLength = 8): fc.Arbitrary<string> {
  const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));
  const piece = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...pieces) }, unit);
  return fc.array(piece, { maxLength }).map((parts) => parts.join(""));
}

/** One of `rights`, or one time in twenty one of `wrongs`. */
export const mostly = (rights: fc.Arbitrary<unknown>, wrongs: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 19, arbitrary: rights }, { weight: 1, arbitrary: wrongs });

/** `value` with `other` at the end of a path, which may also be a new member. The path's numbers choose the keys. */
function damaged(value: unknown, [step, ...path]: readonly number[], other: unknown): unknown {
  if (step === undefined || typeof value !== "object" || value === null) return other;
  const keys = Object.keys(value);
  const key = keys[step % (keys.length + 1)] ?? (Array.isArray(value) ? String(keys.length) : "odd");
  const copy = Object.assign(Array.isArray(value) ? [] : {}, value) as Record<string, unknown>;
  copy[key] = damaged(copy[key], path, other);
  return copy;
}

/** A value of `wholes`, in which up to `maxLength` members, at any depth, are replaced by `odd` ones. */
export const damagedOf = (wholes: fc.Arbitrary<unknown>, odd: fc.Arbitrary<unknown>, maxLength = 4) => {
  const path = fc.array(fc.nat(20), { minLength: 1, maxLength: 8 });
  return fc.tuple(wholes, fc.array(fc.tuple(path, odd), { maxLength })).map(([whole, damages]) => ({
    value: damages.reduce((value, [steps, other]) => damaged(value, steps, other), whole),
    isWhole: damages.length === 0,
  }));
};
