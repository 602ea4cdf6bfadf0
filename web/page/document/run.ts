// One run of the model. Tracks where it begins and ends while the visitor edits around it. Each run is one step of
// the shared undo history.
import { invertedEffects, isolateHistory } from "@codemirror/commands";
import {
  Annotation,
  EditorState,
  StateEffect,
  StateField,
  Transaction,
  type ChangeDesc,
  type Extension,
  type TransactionSpec,
} from "@codemirror/state";
import type { Token } from "../../src/client/index.js";
import { piecesOf, rangesAt, textOf, type Piece } from "./pieces.js";
import { addWritten, writingLanguage } from "./written.js";

/** Offsets of the model's current or last run. */
export interface Run {
  readonly from: number;
  readonly to: number;
  /**
   * "awaited": the first token, which replaces the text between the offsets, has not arrived. "open": the model is
   * writing. "closed": the run has ended, or the visitor pressed Undo or Redo, or deleted all of its text or of its prompt.
   */
  readonly stage: "awaited" | "open" | "closed";
  /** Of an awaited run: the run before it, which stays the last one if the model writes nothing. */
  readonly before?: Run | null;
  /** Of an awaited run: whether it belongs to the step of `breakParagraph`. */
  readonly joins?: boolean;
}

function mapRun(run: Run, changes: ChangeDesc): Run {
  const { before } = run;
  const from = changes.mapPos(run.from, 1);
  // Text typed directly after the run stays after it.
  const to = Math.max(from, changes.mapPos(run.to, -1));
  return { ...run, from, to, ...(before && { before: mapRun(before, changes) }) };
}

const lastOf = (run: Run | null): Run | null => (run?.stage === "awaited" ? (run.before ?? null) : run);

function closed(run: Run | null): Run | null {
  const last = lastOf(run);
  return last && { ...last, stage: "closed" };
}

/** Makes another run the last one; null: there is none. */
export const setRun = StateEffect.define<Run | null>({
  map: (run, changes) => run && mapRun(run, changes),
});
const byModel = Annotation.define<true>();

/** Whether the visitor typed or pasted. The model's text has the same user events, for the history. */
export const isTyped = (transaction: Transaction): boolean =>
  !transaction.annotation(byModel) &&
  (transaction.isUserEvent("input.type") || transaction.isUserEvent("input.paste"));

export const goesBack = (transaction: Transaction): boolean =>
  transaction.isUserEvent("undo") || transaction.isUserEvent("redo");

/** Whether the visitor removed all of what the model is writing or, before its first token, all that it continues. */
function removesAll(run: Run | null, transaction: Transaction): boolean {
  if (!run || run.stage === "closed" || transaction.annotation(byModel)) return false;
  if (transaction.isUserEvent("input.type.compose")) return false; // it replaces a word by itself
  const begin = run.stage === "open" ? run.from : 0;
  let isRemoved = false;
  transaction.changes.iterChangedRanges((from, to) => {
    isRemoved ||= from < to && from <= begin && to >= run.to;
  });
  return isRemoved;
}

export const runField = StateField.define<Run | null>({
  create: () => null,
  update(run, transaction) {
    let next = run && transaction.docChanged ? mapRun(run, transaction.changes) : run;
    if (goesBack(transaction) || removesAll(run, transaction)) next = closed(next);
    for (const effect of transaction.effects) {
      if (!effect.is(setRun)) continue;
      const { value } = effect;
      next = value?.stage === "awaited" ? { ...value, before: closed(next) } : value;
    }
    return next;
  },
});

/** The last run; one whose first token has not arrived does not count. */
export const lastRun = (state: EditorState): Run | null => lastOf(state.field(runField));

/** The awaited run whose first token replaces, by this change, the text between its offsets. */
export function begunRun({ startState, effects }: Transaction): Run | undefined {
  const run = startState.field(runField);
  const isBegun = effects.some((effect) => effect.is(setRun) && effect.value?.stage === "open");
  return run?.stage === "awaited" && isBegun ? run : undefined;
}

/** Undo and Redo restore which text was the last run, so that it can be written again. */
const runSteps = invertedEffects.of((transaction) => {
  const isSet = transaction.effects.some((effect) => effect.is(setRun) && effect.value?.stage !== "open");
  const isStep = transaction.docChanged && (isSet || goesBack(transaction));
  return isStep || begunRun(transaction) ? [setRun.of(closed(transaction.startState.field(runField)))] : [];
});

/** Who made the last change. The history never joins changes of the visitor and the model into one step. */
const isModelsField = StateField.define<boolean>({
  create: () => false,
  update: (isModels, transaction) =>
    transaction.docChanged ? transaction.annotation(byModel) === true : isModels,
});

const ownSteps = EditorState.transactionExtender.of((transaction) =>
  transaction.docChanged && !transaction.annotation(byModel) && transaction.startState.field(isModelsField)
    ? { annotations: isolateHistory.of("before") }
    : null,
);

/** Starts a run of the model at `from`, which replaces the text up to `to`. */
export const openRun = (from: number, to: number, joins = false): TransactionSpec => ({
  effects: setRun.of({ from, to, stage: "awaited", joins }),
});

/** Begins a paragraph at `from`. A run that joins it is one undo step with it. */
export const breakParagraph = (from: number, insert: string): TransactionSpec => ({
  changes: { from, insert },
  selection: { anchor: from + insert.length },
  annotations: [byModel.of(true), isolateHistory.of("before"), Transaction.userEvent.of("input.type")],
});

export const closeRun = (run: Run): TransactionSpec => ({ effects: setRun.of(closed(run)) });

const writtenAt = (state: EditorState, from: number, pieces: readonly Piece[]) =>
  rangesAt(from, pieces, state.facet(writingLanguage)());

/** The change that adds tokens to a run that is not closed. */
export function growRun(state: EditorState, run: Run, tokens: readonly Token[]): TransactionSpec {
  const isNew = run.stage === "awaited";
  const place = isNew ? run.from : run.to;
  const pieces = piecesOf(tokens);
  const text = textOf(pieces);
  if (text === "") return {}; // the first text begins the step: an earlier change would be joined with later ones
  const end = place + text.length;
  const { main } = state.selection;
  // A caret at the end of the run moves along with it.
  const goesAlong = main.empty && main.head >= place && main.head <= run.to;
  // The history joins it into one step, as it joins one composition, unless the visitor typed in between.
  const joins = (!isNew || run.joins) && state.field(isModelsField);
  return {
    changes: { from: place, to: run.to, insert: text },
    effects: [
      setRun.of({ from: run.from, to: end, stage: "open" }),
      addWritten.of(writtenAt(state, place, pieces)),
    ],
    annotations: [
      byModel.of(true),
      joins ? Transaction.userEvent.of("input.type.compose") : isolateHistory.of("before"),
    ],
    ...(goesAlong && { selection: { anchor: end } }),
  };
}

/** Replaces the text between two offsets with the model's `pieces`, as one undo step. The caret goes to their end. */
export function putPieces(
  state: EditorState,
  from: number,
  to: number,
  pieces: readonly Piece[],
): TransactionSpec {
  const text = textOf(pieces);
  return {
    changes: { from, to, insert: text },
    effects: addWritten.of(writtenAt(state, from, pieces)),
    annotations: [byModel.of(true), isolateHistory.of("full")],
    selection: { anchor: from + text.length },
    scrollIntoView: true,
  };
}

export const runs: Extension = [runField, runSteps, isModelsField, ownSteps];
