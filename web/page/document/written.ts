// Which characters the model wrote, token by token. An edit hands the tokens that it touches to the visitor; undoing
// the edit restores them.
import { invertedEffects } from "@codemirror/commands";
import {
  Facet,
  RangeSet,
  RangeValue,
  StateEffect,
  StateField,
  type ChangeDesc,
  type EditorState,
  type Extension,
  type Range,
} from "@codemirror/state";
import type { Token } from "../../src/client/index.js";
import type { KeptText, Part, TextLanguage } from "./kept-text.js";

/** Returns the language of the model that writes next. */
export const writingLanguage = Facet.define<() => TextLanguage, () => TextLanguage>({
  combine: ([first]) => first ?? (() => ""),
});

/** Characters that the model wrote: one token, or several that together form whole characters. */
export class Written extends RangeValue {
  /** Text typed at either end is not part of the range. */
  override startSide = 1;
  override endSide = -1;

  /** Empty for text from before a reload of the page. */
  readonly tokens: readonly Token[];
  /** The language of the model that wrote it. */
  readonly lang: TextLanguage;

  constructor(tokens: readonly Token[], lang: TextLanguage = "") {
    super();
    this.tokens = tokens;
    this.lang = lang;
  }

  override eq(other: Written): boolean {
    return other.tokens === this.tokens && other.lang === this.lang;
  }
}

type Ranges = readonly Range<Written>[];

function rangesOf(set: RangeSet<Written>): Ranges {
  const ranges: Range<Written>[] = [];
  for (const each = set.iter(); each.value; each.next()) ranges.push(each.value.range(each.from, each.to));
  return ranges;
}

/** Marks these ranges of the new text as the model's. */
export const addWritten = StateEffect.define<Ranges>({
  map: (ranges, changes) => rangesOf(RangeSet.of(ranges, true).map(changes)),
});

/** Calls `found` with each range that `changes` touch. */
function forEachTouched<T extends RangeValue>(
  set: RangeSet<T>,
  changes: ChangeDesc,
  found: (from: number, to: number, value: T) => void,
): void {
  let after = 0; // end of the last range found: several changes may touch it
  changes.iterChangedRanges((fromA, toA) => {
    set.between(fromA, toA, (from, to, value) => {
      if (from >= toA && from >= fromA) return;
      if (to <= fromA || from < after) return;
      after = to;
      found(from, to, value);
    });
  });
}

/** `set` after `changes`, without the values that they touch. */
export function withoutTouched<T extends RangeValue>(set: RangeSet<T>, changes: ChangeDesc): RangeSet<T> {
  const touched = new Set<T>();
  forEachTouched(set, changes, (_from, _to, value) => touched.add(value));
  const rest = touched.size > 0 ? set.update({ filter: (_from, _to, value) => !touched.has(value) }) : set;
  return rest.map(changes);
}

export const writtenField = StateField.define<RangeSet<Written>>({
  create: () => RangeSet.empty,
  update(set, transaction) {
    let next = transaction.docChanged ? withoutTouched(set, transaction.changes) : set;
    for (const effect of transaction.effects) {
      if (effect.is(addWritten)) next = next.update({ add: effect.value, sort: true });
    }
    return next;
  },
});

/** Restores the model's ranges when the edit that removed them is undone. */
const givenBack = invertedEffects.of(({ docChanged, startState, changes }) => {
  const lost: Range<Written>[] = [];
  if (docChanged) {
    forEachTouched(startState.field(writtenField), changes, (from, to, value) =>
      lost.push(value.range(from, to)),
    );
  }
  return lost.length > 0 ? [addWritten.of(lost)] : [];
});

/** As `partsOf`, for ranges in ascending order. */
export const partsOfAll = (ranges: Ranges): Part[] => partsOf(RangeSet.of(ranges, true));

/** The models' ranges in their stored form; adjacent ranges of one language are joined. */
export function partsOf(set: RangeSet<Written>, first = 0, last = Infinity): Part[] {
  const parts: Part[] = [];
  set.between(first, last, (from, to, { lang }) => {
    const before = parts.at(-1);
    if (before?.[1] === from && (before[2] ?? "") === lang) before[1] = to;
    else parts.push(lang === "" ? [from, to] : [from, to, lang]);
  });
  return parts;
}

/** The ranges that were stored as `parts`. */
export const rangesOfParts = (parts: readonly Readonly<Part>[]): Range<Written>[] =>
  parts.map(([from, to, lang]) => new Written([], lang).range(from, to));

/** The text of `state`, without its history. */
export const toKeptText = (state: EditorState): KeptText => ({
  text: state.doc.toString(),
  caret: state.selection.main.to,
  written: partsOf(state.field(writtenField)),
});

export const writtenTracking: Extension = [writtenField, givenBack];
