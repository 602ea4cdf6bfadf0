// The alternatives at one place: texts that were written there one after another. One is in the text; the others are
// kept.
import { invertedEffects, isolateHistory } from "@codemirror/commands";
import {
  RangeSet,
  StateEffect,
  StateField,
  type EditorState,
  type Range,
  type Transaction,
  type TransactionSpec,
} from "@codemirror/state";
import { asLines } from "./pieces.js";
import { begunRun, closeRun, goesBack, lastRun, runField, setRun, type Run } from "./run.js";
import { addWritten, partsOf, rangesOfParts, writtenField, type Written } from "./written.js";
import { parseParts } from "./parse-kept.js";
import type { Part } from "./kept-text.js";

/** One alternative, and who wrote which part of it, as offsets from its start. */
export interface Alternative {
  readonly text: string;
  readonly written: readonly Range<Written>[];
}

export interface Alternatives {
  readonly all: readonly Alternative[];
  /** Index of the alternative in the text. After an edit, of the one that was there before. */
  readonly shown: number;
}

/** The most alternatives at one place. A file with more is refused; one more replaces the oldest. */
export const mostAlternatives = 1000;

const none: Alternatives = { all: [], shown: 0 };

/** Records that the run's text is now the alternative with this index. */
const showAlternative = StateEffect.define<number>();

/** Undo and Redo bring back the alternatives of another place. */
export const setAlternatives = StateEffect.define<Alternatives>();

function cutOut(state: EditorState, { from, to }: Run): Alternative {
  const written: Range<Written>[] = [];
  state.field(writtenField).between(from, to, (start, end, value) => {
    if (start >= from && end <= to && start < end) written.push(value.range(start - from, end - from));
  });
  return { text: state.sliceDoc(from, to), written };
}

const placeOf = (all: readonly Alternative[], text: string): number =>
  all.findIndex((each) => each.text === text);

/** With the run's text: one that is being written is added, an edited one replaces the one that was shown. */
function withRun(state: EditorState, { all, shown }: Alternatives, run: Run): Alternatives {
  const now = cutOut(state, run);
  if (now.text === "") return { all, shown };
  const known = placeOf(all, now.text);
  if (known !== -1) return { all, shown: known };
  if (run.stage === "open" || all.length === 0) {
    const kept = [...all, now].slice(-mostAlternatives);
    return { all: kept, shown: kept.length - 1 };
  }
  return { all: all.map((each, place) => (place === shown ? now : each)), shown };
}

function withLastRun(state: EditorState, before: Alternatives): Alternatives {
  const run = lastRun(state);
  return run ? withRun(state, before, run) : before;
}

/** Whether a change moves the last run to another place, which has no alternatives yet, or removes it. */
function leavesPlace(transaction: Transaction): boolean {
  const begun = begunRun(transaction);
  if (begun) return begun.from === begun.to;
  return transaction.docChanged && transaction.effects.some((each) => each.is(setRun) && each.value === null);
}

const givenBack = invertedEffects.of((transaction) => {
  const isSet = transaction.effects.some((effect) => effect.is(setAlternatives));
  return isSet || leavesPlace(transaction)
    ? [setAlternatives.of(transaction.startState.field(alternativesField))]
    : [];
});

export const alternativesField: StateField<Alternatives> = StateField.define<Alternatives>({
  create: () => none,
  update(before, transaction) {
    const { state, startState, effects } = transaction;
    const set = effects.find((effect) => effect.is(setAlternatives));
    if (!set && leavesPlace(transaction)) return none;
    const show = effects.find((effect) => effect.is(showAlternative));
    if (show) return { all: withLastRun(startState, before).all, shown: show.value };
    const begun = begunRun(transaction);
    if (begun) return withRun(startState, before, begun);
    const run = state.field(runField);
    const was = startState.field(runField);
    const now = set?.value ?? before;
    if (run?.stage !== "closed") return now;
    const isUndone = goesBack(transaction);
    const ends = !set && was?.stage === "open";
    if (ends && !isUndone) return withRun(state, now, { ...run, stage: "open" });
    // Undo has removed what the run had written.
    const list = ends ? withRun(startState, now, was) : now;
    const known = isUndone ? placeOf(list.all, state.sliceDoc(run.from, run.to)) : -1;
    return known === -1 ? list : { ...list, shown: known };
  },
  provide: () => givenBack,
});

/** The place of the current alternative and their number; undefined if there is only one or the run is gone. */
export function alternativeOf(state: EditorState): { place: number; count: number } | undefined {
  const run = state.field(runField);
  const { all, shown } = state.field(alternativesField);
  if (!run || run.stage !== "closed" || run.from === run.to || all.length < 2) return undefined;
  const found = placeOf(all, state.sliceDoc(run.from, run.to));
  return { place: found === -1 ? shown : found, count: all.length };
}

/** Replaces the run with the next or previous alternative, as one undo step. */
export function toAlternative(state: EditorState, step: 1 | -1): TransactionSpec | undefined {
  const now = alternativeOf(state);
  const run = state.field(runField);
  if (!now || !run) return undefined;
  const place = (now.place + step + now.count) % now.count;
  const next = state.field(alternativesField).all[place];
  if (!next) return undefined;
  const to = run.from + next.text.length;
  const { effects } = closeRun({ from: run.from, to, stage: "closed" });
  return {
    changes: { from: run.from, to: run.to, insert: next.text },
    effects: [
      ...[effects ?? []].flat(),
      addWritten.of(next.written.map((each) => each.value.range(run.from + each.from, run.from + each.to))),
      showAlternative.of(place),
    ],
    annotations: isolateHistory.of("full"),
    selection: { anchor: to },
    userEvent: "input.replace",
    scrollIntoView: true,
  };
}

/** The stored form. */
export interface KeptAlternatives {
  all: readonly { text: string; written: readonly Readonly<Part>[] }[];
  shown: number;
}

/** undefined if there is only one, which is in the text. */
export function keepList({ all, shown }: Alternatives): KeptAlternatives | undefined {
  if (all.length < 2) return undefined;
  return {
    all: all.map(({ text, written }) => ({ text, written: partsOf(RangeSet.of([...written], true)) })),
    shown,
  };
}

export const keepAlternatives = (state: EditorState): KeptAlternatives | undefined =>
  keepList(withLastRun(state, state.field(alternativesField)));

/** Parses stored alternatives; skips invalid ones. */
export function parseAlternatives(value: unknown): Alternatives {
  const { all, shown } = Object(value) as Record<string, unknown>;
  if (!Array.isArray(all)) return none;
  const parsed = all.flatMap((each: unknown) => {
    const { text, written } = Object(each) as Record<string, unknown>;
    if (typeof text !== "string" || text === "") return [];
    const lines = asLines(text);
    const parts = parseParts(written).filter(([, to]) => to <= lines.length);
    return [{ text: lines, written: rangesOfParts(parts) }];
  });
  const isPlace = typeof shown === "number" && Number.isInteger(shown) && shown >= 0 && shown < parsed.length;
  return parsed.length > 1 ? { all: parsed, shown: isPlace ? shown : 0 } : none;
}
