// The stored history. CodeMirror's own JSON leaves out effects: who wrote the text of a step, which branch it shows, and what
// the last run is. So each step is stored as its transaction, and the history is rebuilt by applying all of them.
import { history, historyField, isolateHistory, redo, undo } from "@codemirror/commands";
import {
  EditorState,
  RangeSet,
  StateEffect,
  type ChangeSpec,
  type Extension,
  type StateCommand,
  type StateField,
  type Transaction,
  type TransactionSpec,
} from "@codemirror/state";
import type { ContextFields } from "../state/context-fields.js";
import {
  alternativesField,
  keepList,
  parseAlternatives,
  setAlternatives,
  type KeptAlternatives,
} from "./alternatives.js";
import { fieldsField, fieldSteps, setFields } from "./fields.js";
import type { KeptText, Part } from "./kept-text.js";
import { parseFields } from "./parse-fields.js";
import { isOffset, parseParts } from "./parse-kept.js";
import { asLines } from "./pieces.js";
import { runField, runs, setRun, type Run } from "./run.js";
import { branchSteps, changeTree, goToBranch, treeField } from "./steps.js";
import { parseChange as parseTreeChange, parseMove, parseTree, type Move, type TreeStep } from "./tree.js";
import { addWritten, partsOfAll, rangesOfParts, writtenField, writtenTracking } from "./written.js";

interface KeptStep {
  /** Offsets in the text before the step. */
  changes: readonly (readonly [from: number, to: number, insert: string])[];
  selection: readonly [anchor: number, head: number];
  /** The ranges that it gives back to the models. */
  written: readonly Readonly<Part>[];
  /** Its change of the branches, if any. */
  branches: Move | TreeStep | null;
  /** The fields that it brings back, null for empty ones; missing if it keeps those that are set. */
  fields?: ContextFields | null;
  /** The run that becomes the last one, null for none; missing if it stays the same. */
  run?: readonly [from: number, to: number] | null;
  /** The alternatives at that run's place, null for none; missing if they stay the same. */
  alternatives?: KeptAlternatives | null;
}

/** The steps that Undo and Redo would take, the nearest first. */
export interface KeptHistory {
  undo: readonly KeptStep[];
  redo: readonly KeptStep[];
}

/** undefined if there is none, or its text is gone. */
export const keepRun = (run: Run | null): readonly [from: number, to: number] | undefined =>
  run && run.from < run.to ? [run.from, run.to] : undefined;

function keepStep({ changes, newSelection, effects }: Transaction): KeptStep {
  const { anchor, head } = newSelection.main;
  const [branches = null] = effects.flatMap((effect) =>
    effect.is(goToBranch) || effect.is(changeTree) ? [effect.value] : [],
  );
  const [set] = effects.filter((effect) => effect.is(setFields));
  const [last] = effects.filter((effect) => effect.is(setRun));
  const [list] = effects.filter((effect) => effect.is(setAlternatives));
  const written = partsOfAll(effects.flatMap((effect) => (effect.is(addWritten) ? effect.value : [])));
  const all: [number, number, string][] = [];
  changes.iterChanges((from, to, _from, _to, inserted) => all.push([from, to, inserted.toString()]));
  return {
    changes: all,
    selection: [anchor, head],
    written,
    branches,
    ...(set && { fields: set.value }),
    ...(last && { run: keepRun(last.value) ?? null }),
    ...(list && { alternatives: keepList(list.value) ?? null }),
  };
}

/** Calls `command` until it has nothing left to do. Returns its transactions. */
function takeAll(state: EditorState, command: StateCommand): Transaction[] {
  const taken: Transaction[] = [];
  const dispatch = (transaction: Transaction) => {
    taken.push(transaction);
    ({ state } = transaction);
  };
  while (command({ state, dispatch }));
  return taken;
}

export function keepHistory(state: EditorState): KeptHistory {
  // The other extensions would only compute what no step needs.
  const bare = state.update({ effects: StateEffect.reconfigure.of(history()) }).state;
  return { undo: takeAll(bare, undo).map(keepStep), redo: takeAll(bare, redo).map(keepStep) };
}

function parseChange(value: unknown): ChangeSpec {
  const [from, to, insert] = Array.isArray(value) ? (value as unknown[]) : [];
  if (!isOffset(from) || !isOffset(to) || typeof insert !== "string")
    throw new TypeError("a change is not [from, to, insert]");
  return { from, to, insert };
}

const listIn = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** A stored run; null if it is empty, invalid or does not fit a text of `length`. */
function parseRun(value: unknown, length: number): Run | null {
  const [run] = parseParts([value]).filter(([, to]) => to <= length);
  return run ? { from: run[0], to: run[1], stage: "closed" } : null;
}

/** Throws if the step is invalid or does not fit the text. */
function parseStep(value: unknown, before: EditorState): TransactionSpec {
  const step = Object(value) as Partial<Record<keyof KeptStep, unknown>>;
  const changes = before.changes(listIn(step.changes).map(parseChange));
  const [anchor, head] = listIn(step.selection);
  if (!isOffset(anchor) || !isOffset(head)) throw new TypeError("a selection is not [anchor, head]");
  const parts = parseParts(step.written).filter(([, to]) => to <= changes.newLength);
  const move = parseMove(step.branches);
  const treeChange = parseTreeChange(step.branches);
  const effects = [
    ...(parts.length > 0 ? [addWritten.of(rangesOfParts(parts))] : []),
    ...(move ? [goToBranch.of(move)] : []),
    ...(treeChange ? [changeTree.of(treeChange)] : []),
    ...(step.fields !== undefined ? [setFields.of(parseFields(step.fields) ?? null)] : []),
    ...(step.run !== undefined ? [setRun.of(parseRun(step.run, changes.newLength))] : []),
    ...(step.alternatives !== undefined ? [setAlternatives.of(parseAlternatives(step.alternatives))] : []),
  ];
  return { changes, selection: { anchor, head }, effects };
}

/** CodeMirror's history holds no more steps. */
const mostSteps = 120;

/** Makes each of `steps` an edit, and so a step of the history. */
function edit(begin: EditorState, steps: readonly ((before: EditorState) => TransactionSpec)[]): EditorState {
  return steps.reduce(
    (before, step) => before.update(step(before), { annotations: isolateHistory.of("full") }).state,
    begin,
  );
}

const parseSteps = (value: unknown) =>
  listIn(value)
    .slice(0, mostSteps)
    .map((step) => (before: EditorState) => parseStep(step, before));

/** The parts of a text besides its words that Undo and Redo restore. */
const parts: readonly StateField<unknown>[] = [
  writtenField,
  treeField,
  fieldsField,
  runField,
  alternativesField,
];

/** What makes a history; `values` are those that the parts begin with. */
const tracking = (values: readonly Extension[]): Extension => [
  values, // the first value of a part counts
  history(),
  writtenTracking,
  branchSteps(undefined),
  fieldSteps(undefined),
  runs,
  alternativesField,
];

/** Another page of the host may have stored anything. */
type StoredHistory = Partial<Record<keyof KeptHistory, unknown>>;

/** `text` with its stored history. Throws if the history is invalid. */
function withHistory(text: EditorState, kept: StoredHistory): EditorState {
  const first = edit(text, parseSteps(kept.undo));
  const begin = EditorState.create({
    doc: first.doc,
    selection: first.selection,
    extensions: tracking(parts.map((part) => part.init(() => first.field(part)))),
  });
  const steps = takeAll(first, undo).map(({ changes, newSelection: selection, effects }) => () => ({
    changes,
    selection,
    effects,
  }));
  const undone = parseSteps(kept.redo);
  let state = edit(edit(begin, steps), undone);
  for (let left = undone.length; left > 0; left -= 1)
    undo({ state, dispatch: (transaction) => ({ state } = transaction) });
  if (!state.doc.eq(text.doc)) throw new RangeError("the steps are those of another text");
  return state;
}

/** The state of a stored text with its `fields`, and with its history unless that is invalid. */
export function openKept(
  kept: KeptText,
  fields: ContextFields | undefined,
  extensions: Extension,
): EditorState {
  const doc = asLines(kept.text);
  const written = rangesOfParts(kept.written.filter(([, to]) => to <= doc.length));
  const selection = { anchor: Math.min(kept.caret, doc.length) };
  const all = tracking([
    writtenField.init(() => RangeSet.of(written, true)),
    treeField.init(() => parseTree(kept.tree)),
    fieldsField.init(() => fields),
    runField.init(() => parseRun(kept.run, doc.length)),
    alternativesField.init(() => parseAlternatives(kept.alternatives)),
  ]);
  const open = (more: Extension) => EditorState.create({ doc, selection, extensions: [all, more] });
  try {
    const steps = withHistory(open([]), Object(kept.history) as StoredHistory).field(historyField);
    return open([historyField.init(() => steps), extensions]);
  } catch {
    return open(extensions);
  }
}
