// The tokens of the whole text, and how probable the model finds each. An edit removes the tokens that it touches
// until the text is tokenized again.
import { RangeSet, RangeValue, StateEffect, type Range } from "@codemirror/state";
import { harmlessField } from "./harmless.js";
import { addWritten, withoutTouched } from "./written.js";

/** One token, or several that together form whole characters. */
export class Scored extends RangeValue {
  override startSide = 1;
  override endSide = -1;

  readonly ids: readonly number[];
  /** Summed over the tokens; null at the start of the text, which has no context, and undefined until scored. */
  readonly logprob: number | null | undefined;
  /** The largest rank of the tokens; null and undefined as above. */
  readonly rank: number | null | undefined;
  /** Number of tokens before this one; approximate after an edit. */
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

/** Replaces all tokens of the text. */
export const setScored = StateEffect.define<readonly Range<Scored>[]>();
/** Adds scores to a series of tokens that are already present. */
export const addScores = StateEffect.define<readonly Range<Scored>[]>();

/** Whether both are the same token of one text, scored or not. */
export const isSameToken = (one: Range<Scored>, other: Range<Scored>): boolean =>
  one.from === other.from &&
  one.to === other.to &&
  one.value.index === other.value.index &&
  one.value.ids.join() === other.value.ids.join();

/** Tokens without scores keep those that the same tokens have in `before`, so that nothing flickers. */
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

/** The parts of `tokens` in a text of `length`. CodeMirror throws at each later change if a range is outside of the text. */
const within = (tokens: readonly Range<Scored>[], length: number): Range<Scored>[] =>
  tokens
    .filter(({ from }) => from < length)
    .map(({ from, to, value }) => value.range(from, Math.min(to, length)));

/** Adds `tokens` in place of those that they overlap. Undo brings back tokens in a text that may be cut otherwise now. */
function replaceTokens(set: RangeSet<Scored>, tokens: readonly Range<Scored>[]): RangeSet<Scored> {
  const added = RangeSet.of([...tokens], true);
  // Only there: a long text has tens of thousands of tokens, and each new one comes this way.
  const filterFrom = tokens.reduce((first, { from }) => Math.min(first, from), Infinity);
  const filterTo = tokens.reduce((last, { to }) => Math.max(last, to), 0);
  const filter = (from: number, to: number) => {
    let isFree = true;
    added.between(from, to, (start, end) => (isFree = start >= to || end <= from) && undefined);
    return isFree;
  };
  return set.update({ add: tokens, sort: true, filter, filterFrom, filterTo });
}

/**
 * The model's text was scored while it was written. A token that heals earlier text is shown in part until the text
 * is tokenized again. Tokens that only heal are not shown.
 */
function asWritten(set: RangeSet<Scored>, ranges: Parameters<typeof addWritten.of>[0]): Range<Scored>[] {
  const [first] = ranges;
  if (!first) return [];
  let index = 0;
  set.between(first.from - 1, first.from, (_from, _to, { index: before, ids }) => {
    index = before + ids.length;
  });
  return ranges
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
}

export const scoredField = harmlessField(RangeSet.of<Scored>([]), (set, transaction) => {
  let next = transaction.docChanged && set.size > 0 ? withoutTouched(set, transaction.changes) : set;
  const { length } = transaction.newDoc;
  for (const effect of transaction.effects) {
    if (effect.is(addWritten)) next = replaceTokens(next, within(asWritten(next, effect.value), length));
    if (effect.is(setScored)) next = RangeSet.of(within(effect.value, length), true);
    if (effect.is(addScores)) next = replaceTokens(next, within(effect.value, length));
  }
  return next;
});

/** The token that contains `offset`, or ends there. */
export function tokenAt(set: RangeSet<Scored>, offset: number): Range<Scored> | undefined {
  let found: Range<Scored> | undefined;
  set.between(offset, offset, (from, to, value) => {
    if (!found || from < offset) found = value.range(from, to);
    return from < offset && to >= offset ? false : undefined;
  });
  return found;
}

/** The number of tokens in a text of `length` characters; an estimate where some are unknown. */
export function countTokens(set: RangeSet<Scored>, length: number): number {
  const last = tokenAt(set, length);
  return last ? last.value.index + last.value.ids.length : 0;
}

/** The tokens before `offset`; undefined unless all of that text is tokenized. */
export function tokensBefore(set: RangeSet<Scored>, offset: number): Range<Scored>[] | undefined {
  const tokens: Range<Scored>[] = [];
  let known = 0; // the text before this offset is in `tokens`
  set.between(0, offset, (from, to, value) => {
    if (from >= offset || from !== known) return false;
    tokens.push(value.range(from, to));
    known = to;
  });
  return known === offset ? tokens : undefined;
}
