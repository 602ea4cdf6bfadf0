// The alternatives at one place: texts that were written there one after another. One is in the text; the others are
// kept.
import { isolateHistory } from "@codemirror/commands";
import {
  RangeSet,
  StateEffect,
  StateField,
  type EditorState,
  type Range,
  type TransactionSpec,
} from "@codemirror/state";
import { asLines } from "./pieces.js";
import { closeRun, runField, type Run } from "./run.js";
import { addWritten, partsOf, rangesOfParts, writtenField, type Written } from "./written.js";
import { parseParts } from "./parse-kept.js";
import type { Part } from "./kept-text.js";

/** One alternative, and who wrote which part of it, as offsets from its start. */
export interface Alternative {
  readonly text: string;
  readonly written: readonly Range<Written>[];
}

interface Alternatives {
  readonly all: readonly Alternative[];
  /** Index of the alternative in the text. After an edit, of the one that was there before. */
  readonly shown: number;
}

const none: Alternatives = { all: [], shown: 0 };

/** Records that the run's text is now the alternative with this index. */
const showAlternative = StateEffect.define<number>();

function cutOut(state: EditorState, { from, to }: Run): Alternative {
  const written: Range<Written>[] = [];
  state.field(writtenField).between(from, to, (start, end, value) => {
    if (start >= from && end <= to && start < end) written.push(value.range(start - from, end - from));
  });
  return { text: state.sliceDoc(from, to), written };
}

const placeOf = (all: readonly Alternative[], text: string): number =>
  all.findIndex((each) => each.text === text);

/** `all` with the run's current text. An edited text replaces the alternative that was shown. */
function withRun(state: EditorState, { all, shown }: Alternatives, run: Run): Alternatives {
  const now = cutOut(state, run);
  if (now.text === "") return { all, shown };
  const known = placeOf(all, now.text);
  if (known !== -1) return { all, shown: known };
  if (all.length === 0) return { all: [now], shown: 0 };
  return { all: all.map((each, place) => (place === shown ? now : each)), shown };
}

export const alternativesField = StateField.define<Alternatives>({
  create: () => none,
  update(before, { state, startState, effects }) {
    const show = effects.find((effect) => effect.is(showAlternative));
    if (show) return { all: withOldRun(startState, before).all, shown: show.value };
    const was = startState.field(runField);
    const run = state.field(runField);
    if (!run || run === was) return before;
    // A new place has no alternatives yet.
    if (run.stage === "awaited") return run.from < run.to ? withRun(state, before, run) : none;
    if (run.stage !== "closed" || was?.stage !== "open") return before;
    const now = cutOut(state, run);
    if (now.text === "") return before;
    const known = placeOf(before.all, now.text);
    if (known !== -1) return { ...before, shown: known };
    return { all: [...before.all, now], shown: before.all.length };
  },
});

function withOldRun(state: EditorState, before: Alternatives): Alternatives {
  const run = state.field(runField);
  return run ? withRun(state, before, run) : before;
}

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

export function keepAlternatives(state: EditorState): KeptAlternatives | undefined {
  const { all, shown } = withOldRun(state, state.field(alternativesField));
  if (all.length < 2) return undefined;
  return {
    all: all.map(({ text, written }) => ({ text, written: partsOf(RangeSet.of([...written], true)) })),
    shown,
  };
}

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
