// The tokens of the whole text, the visitor's and the model's, and how probable the model finds each of them. Those that
// an edit touches go, until the text has been cut anew.
import { RangeSet, RangeValue, StateEffect, StateField, type Range } from "@codemirror/state";
import { addWritten, forEachTouched } from "./written.js";

/** A token; or as many as make up whole characters. */
export class Scored extends RangeValue {
  override startSide = 1;
  override endSide = -1;

  readonly ids: readonly number[];
  /**
   * Of the first and all that follow it here; null at the beginning of the text, which nothing predicts, and undefined
   * until it is scored.
   */
  readonly logprob: number | null | undefined;
  /** The largest of theirs, null and undefined likewise. */
  readonly rank: number | null | undefined;
  /** Number of tokens before it; where the text has been changed since, about so many. */
  readonly index: number;

  constructor(
    ids: readonly number[],
    logprob: number | null | undefined,
    rank: number | null | undefined,
    index: number,
  ) {
    super();
    this.ids = ids;
    this.logprob = logprob;
    this.rank = rank;
    this.index = index;
  }

  override eq(other: Scored): boolean {
    return (
      other.ids === this.ids &&
      other.logprob === this.logprob &&
      other.rank === this.rank &&
      other.index === this.index
    );
  }
}

/** All tokens of the text. */
export const setScored = StateEffect.define<readonly Range<Scored>[]>();
/** Some that are there already, one behind the other, with their scores. */
export const addScores = StateEffect.define<readonly Range<Scored>[]>();

/** Whether both are the same token of one text, scored or not. */
export const isSameToken = (one: Range<Scored>, other: Range<Scored>): boolean =>
  one.from === other.from &&
  one.to === other.to &&
  one.value.index === other.value.index &&
  one.value.ids.join() === other.value.ids.join();

/** Tokens that are not scored keep, until they are, what `before` has of the same ones at their places: so nothing flickers. */
export function keepScores(before: RangeSet<Scored>, cut: readonly Range<Scored>[]): Range<Scored>[] {
  const known = new Map<number, Scored>();
  for (const each = before.iter(); each.value; each.next()) known.set(each.from, each.value);
  return cut.map((token) => {
    const { from, to, value } = token;
    const was = known.get(from);
    if (value.logprob !== undefined || was?.ids.join() !== value.ids.join()) return token;
    return new Scored(value.ids, was.logprob, was.rank, value.index).range(from, to);
  });
}

function replaceTokens(set: RangeSet<Scored>, ranges: readonly Range<Scored>[]): RangeSet<Scored> {
  const filterFrom = ranges[0]?.from ?? 0;
  const filterTo = ranges.at(-1)?.to ?? 0;
  const filter = (from: number, to: number) => to <= filterFrom || from >= filterTo;
  return set.update({ add: ranges, filterFrom, filterTo, filter });
}

/**
 * The model's text has been scored as it was written, except for a token that heals some of the text before. Until that
 * token is cut anew, only a part of it is shown here. Tokens that only heal have no part in what is shown.
 */
function asWritten(set: RangeSet<Scored>, ranges: Parameters<typeof addWritten.of>[0]): RangeSet<Scored> {
  const [first] = ranges;
  if (!first) return set;
  let index = 0;
  set.between(first.from - 1, first.from, (_from, _to, { index: before, ids }) => {
    index = before + ids.length;
  });
  const added = ranges
    .filter(({ value }) => value.tokens.length > 0)
    .map(({ from, to, value }) => {
      const tokens = value.tokens.filter(({ healed }) => healed !== "all");
      const ids = tokens.map(({ id }) => id);
      const isPart = tokens.some(({ healed }) => healed === "some");
      const logprob = isPart ? undefined : tokens.reduce((sum, token) => sum + token.logprob, 0);
      const rank = isPart ? undefined : Math.max(...tokens.map((token) => token.rank));
      const scored = new Scored(ids, logprob, rank, index);
      index += ids.length;
      return scored.range(from, to);
    });
  return set.update({ add: added, sort: true });
}

export const scoredField = StateField.define<RangeSet<Scored>>({
  create: () => RangeSet.empty,
  update(set, transaction) {
    let next = set;
    if (transaction.docChanged && set.size > 0) {
      const touched = new Set<Scored>();
      forEachTouched(set, transaction.changes, (_from, _to, value) => touched.add(value));
      if (touched.size > 0) next = next.update({ filter: (_from, _to, value) => !touched.has(value) });
      next = next.map(transaction.changes);
    }
    for (const effect of transaction.effects) {
      if (effect.is(addWritten)) next = asWritten(next, effect.value);
      if (effect.is(setScored)) next = RangeSet.of([...effect.value], true);
      if (effect.is(addScores)) next = replaceTokens(next, effect.value);
    }
    return next;
  },
});

/** The token that `offset` is in, or right behind. */
export function tokenAt(set: RangeSet<Scored>, offset: number): Range<Scored> | undefined {
  let found: Range<Scored> | undefined;
  set.between(offset, offset, (from, to, value) => {
    if (!found || from < offset) found = value.range(from, to);
    return from < offset && to >= offset ? false : undefined;
  });
  return found;
}

/** How many tokens a text of `length` characters is cut into, as far as that is known. */
export function countTokens(set: RangeSet<Scored>, length: number): number {
  const last = tokenAt(set, length);
  return last ? last.value.index + last.value.ids.length : 0;
}

/** The tokens of all that stands before `offset`; undefined where it is not known how all of that is cut. */
export function tokensBefore(set: RangeSet<Scored>, offset: number): Range<Scored>[] | undefined {
  const tokens: Range<Scored>[] = [];
  let known = 0; // so far, all of the text is in `tokens`
  set.between(0, offset, (from, to, value) => {
    if (from >= offset || from !== known) return false;
    tokens.push(value.range(from, to));
    known = to;
  });
  return known === offset ? tokens : undefined;
}
