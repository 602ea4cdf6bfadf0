// One run of the model: where it begins and ends while the visitor edits around it. A run is one step of the history that
// both share.
import { invertedEffects, isolateHistory } from "@codemirror/commands";
import {
  Annotation,
  EditorState,
  StateEffect,
  StateField,
  Transaction,
  type Extension,
  type TransactionSpec,
} from "@codemirror/state";
import type { Token } from "../../src/client/index.js";
import { piecesOf, rangesAt, textOf, type Piece } from "./pieces.js";
import { addWritten, writingLanguage } from "./written.js";

/** Offsets of what was written last. */
export interface Run {
  readonly from: number;
  readonly to: number;
  /**
   * "awaited": the first token, which replaces the text between the offsets, has not come; "open": the model is writing.
   * "closed": nothing more comes, or the visitor has gone back in the history.
   */
  readonly stage: "awaited" | "open" | "closed";
}

const setRun = StateEffect.define<Run>({
  map: ({ from, to, stage }, changes) => ({
    from: changes.mapPos(from, 1),
    to: changes.mapPos(to, -1),
    stage,
  }),
});
const byModel = Annotation.define<true>();

/** Whether the visitor typed or pasted: what the model writes has the same events, for the history. */
export const isTyped = (transaction: Transaction): boolean =>
  !transaction.annotation(byModel) &&
  (transaction.isUserEvent("input.type") || transaction.isUserEvent("input.paste"));

export const runField = StateField.define<Run | null>({
  create: () => null,
  update(run, transaction) {
    let next = run;
    if (run && transaction.docChanged) {
      const from = transaction.changes.mapPos(run.from, 1);
      // What is typed just behind it stays behind it.
      const to = Math.max(from, transaction.changes.mapPos(run.to, -1));
      next = { ...run, from, to };
    }
    const goesBack = transaction.isUserEvent("undo") || transaction.isUserEvent("redo");
    if (next && goesBack) next = { ...next, stage: "closed" };
    for (const effect of transaction.effects) if (effect.is(setRun)) next = effect.value;
    return next;
  },
});

/** Undo and Redo bring back which text was the last run, so that it can be written again. */
const runSteps = invertedEffects.of((transaction) => {
  const run = transaction.startState.field(runField);
  const isFirst = run?.stage === "awaited" && transaction.annotation(byModel) === true;
  const goesBack = transaction.isUserEvent("undo") || transaction.isUserEvent("redo");
  return run && transaction.docChanged && (isFirst || goesBack)
    ? [setRun.of({ ...run, stage: "closed" })]
    : [];
});

/** Who made the last change, for the history: the one's is no part of the other's step. */
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

/** Lets the model write at `from`, in place of what is there until `to`. */
export const openRun = (from: number, to: number): TransactionSpec => ({
  effects: setRun.of({ from, to, stage: "awaited" }),
});

export const closeRun = (run: Run): TransactionSpec => ({ effects: setRun.of({ ...run, stage: "closed" }) });

const writtenAt = (state: EditorState, from: number, pieces: readonly Piece[]) =>
  rangesAt(from, pieces, state.facet(writingLanguage)());

/** The change that adds tokens to a run that is not closed. */
export function growRun(state: EditorState, run: Run, tokens: readonly Token[]): TransactionSpec {
  const isNew = run.stage === "awaited";
  const place = isNew ? run.from : run.to;
  const pieces = piecesOf(tokens);
  const text = textOf(pieces);
  if (text === "") return {}; // the step begins with the first text: one before it would have what follows joined to it
  const end = place + text.length;
  const { main } = state.selection;
  // The caret goes with the text, where it stands at its end.
  const goesAlong = main.empty && main.head >= place && main.head <= run.to;
  // As one composition is one step, however long it takes; but not with what the visitor wrote meanwhile.
  const joins = !isNew && state.field(isModelsField);
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

/** The change that puts `pieces` of the model's between two offsets, as a step of its own, with the caret behind them. */
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
