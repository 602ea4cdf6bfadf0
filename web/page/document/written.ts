// The model's part of the text: which characters each of its tokens is, and what it thought of that token. An edit
// makes the tokens that it touches the visitor's; undoing the edit gives them back.
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

/** Gives the language of what is written from now on. */
export const writingLanguage = Facet.define<() => TextLanguage, () => TextLanguage>({
  combine: ([first]) => first ?? (() => ""),
});

/** Characters that the model wrote: of one token, or of as many as make up whole characters. */
export class Written extends RangeValue {
  /** What is typed before or behind is not part of it. */
  override startSide = 1;
  override endSide = -1;

  /** Empty: a text that was there before the page was loaded once more. */
  readonly tokens: readonly Token[];
  /** Of the model that wrote it, whichever is there now. */
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

/** Says that these ranges of the new text are the model's. */
export const addWritten = StateEffect.define<Ranges>({
  map: (ranges, changes) => rangesOf(RangeSet.of(ranges, true).map(changes)),
});

/** Calls `found` with the ranges that `changes` cut, replace or write into. */
export function eachTouched<T extends RangeValue>(
  set: RangeSet<T>,
  changes: ChangeDesc,
  found: (from: number, to: number, value: T) => void,
): void {
  let after = 0; // of what was found: one range may be touched twice
  changes.iterChangedRanges((fromA, toA) => {
    set.between(fromA, toA, (from, to, value) => {
      if (from >= toA && from >= fromA) return;
      if (to <= fromA || from < after) return;
      after = to;
      found(from, to, value);
    });
  });
}

export const writtenField = StateField.define<RangeSet<Written>>({
  create: () => RangeSet.empty,
  update(set, transaction) {
    let next = set;
    if (transaction.docChanged) {
      const touched = new Set<Written>();
      eachTouched(set, transaction.changes, (_from, _to, value) => touched.add(value));
      if (touched.size > 0) next = next.update({ filter: (_from, _to, value) => !touched.has(value) });
      next = next.map(transaction.changes);
    }
    for (const effect of transaction.effects) {
      if (effect.is(addWritten)) next = next.update({ add: effect.value, sort: true });
    }
    return next;
  },
});

/** What an edit took from the model is given back when that edit is undone. */
const givenBack = invertedEffects.of(({ docChanged, startState, changes }) => {
  const lost: Range<Written>[] = [];
  if (docChanged) {
    eachTouched(startState.field(writtenField), changes, (from, to, value) =>
      lost.push(value.range(from, to)),
    );
  }
  return lost.length > 0 ? [addWritten.of(lost)] : [];
});

/** As `partsOf`, of ranges that are in order. */
export const partsOfAll = (ranges: Ranges): Part[] => partsOf(RangeSet.of(ranges, true));

/** The models' ranges as they are kept, those of one language that touch as one. */
export function partsOf(set: RangeSet<Written>, first = 0, last = Infinity): Part[] {
  const parts: Part[] = [];
  set.between(first, last, (from, to, { lang }) => {
    const before = parts.at(-1);
    if (before?.[1] === from && (before[2] ?? "") === lang) before[1] = to;
    else parts.push(lang === "" ? [from, to] : [from, to, lang]);
  });
  return parts;
}

/** The ranges that `parts` were kept of. */
export const rangesOfParts = (parts: readonly Readonly<Part>[]): Range<Written>[] =>
  parts.map(([from, to, lang]) => new Written([], lang).range(from, to));

/** The text of `state`, without what can be undone. */
export const keptOf = (state: EditorState): KeptText => ({
  text: state.doc.toString(),
  caret: state.selection.main.to,
  written: partsOf(state.field(writtenField)),
});

export const written: Extension = [writtenField, givenBack];
