// The history over a reload of the page: CodeMirror's own JSON of it, and beside that what is left out there, which is whose the
// text of each step is, and to which branch it goes.
import { historyField } from "@codemirror/commands";
import { EditorState, type Extension, type StateEffect } from "@codemirror/state";
import { changeTree, goTo } from "../branches/steps.js";
import { parseChange, parseMove, type Move, type TreeChange } from "../branches/tree.js";
import { parseParts } from "./parse-kept.js";
import { addWritten, partsOfAll, rangesOfParts, type Part } from "./written.js";

/** As CodeMirror keeps it: steps to undo, and to redo. */
const stacks = ["done", "undone"] as const;
type Stacks<Step> = Readonly<Record<(typeof stacks)[number], readonly Step[]>>;

export interface KeptHistory {
  steps: unknown;
  /** For each step what it gives back to the models. */
  written: Stacks<readonly Readonly<Part>[]>;
  /** For each step what taking it does to the branches: it goes to one, or changes the tree, or neither. */
  moves: Stacks<Move | TreeChange | null>;
}

interface Step {
  readonly effects: StateEffect<unknown>[];
}

const fields = { history: historyField };
const stepsOf = (state: EditorState) => state.field(historyField) as Stacks<Step>;

export function keepHistory(state: EditorState): KeptHistory {
  const { history: steps } = state.toJSON(fields) as { history: unknown };
  const { done, undone } = stepsOf(state);
  const writtenBy = ({ effects }: Step) =>
    partsOfAll(effects.flatMap((effect) => (effect.is(addWritten) ? effect.value : [])));
  const moveBy = ({ effects }: Step) =>
    effects.flatMap((effect) => (effect.is(goTo) || effect.is(changeTree) ? effect.value : []))[0] ?? null;
  return {
    steps,
    written: { done: done.map(writtenBy), undone: undone.map(writtenBy) },
    moves: { done: done.map(moveBy), undone: undone.map(moveBy) },
  };
}

const valueAt = (all: unknown, place: number): unknown => (Array.isArray(all) ? all[place] : undefined);

/** The state of `doc` with the steps that `kept` has; undefined where it has none: another release may have kept it. */
export function withHistory(
  doc: string,
  caret: number,
  kept: unknown,
  extensions: Extension,
): EditorState | undefined {
  const { steps, written, moves } = (kept ?? {}) as Partial<
    Record<keyof KeptHistory, Record<string, unknown>>
  >;
  if (!steps) return undefined;
  try {
    const selection = { ranges: [{ anchor: caret, head: caret }], main: 0 };
    const state = EditorState.fromJSON({ doc, selection, history: steps }, { extensions }, fields);
    for (const stack of stacks) {
      for (const [place, { effects }] of stepsOf(state)[stack].entries()) {
        const parts = parseParts(valueAt(written?.[stack], place));
        if (parts.length > 0) effects.push(addWritten.of(rangesOfParts(parts)));
        const move = parseMove(valueAt(moves?.[stack], place));
        if (move) effects.push(goTo.of(move));
        const change = parseChange(valueAt(moves?.[stack], place));
        if (change) effects.push(changeTree.of(change));
      }
    }
    return state;
  } catch {
    return undefined;
  }
}
