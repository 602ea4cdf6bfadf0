// The stored undo history: CodeMirror's JSON, and what that JSON leaves out. It leaves out who wrote the text of each
// step, and which branch the step leads to.
import { historyField } from "@codemirror/commands";
import {
  EditorState,
  type ChangeDesc,
  type ChangeSet,
  type EditorSelection,
  type Extension,
  type StateEffect,
} from "@codemirror/state";
import { changeTree, goToBranch } from "./steps.js";
import { parseChange, parseMove, type Move, type TreeChange } from "./tree.js";
import { isOffset, parseParts } from "./parse-kept.js";
import { addWritten, partsOfAll, rangesOfParts } from "./written.js";
import type { Part } from "./kept-text.js";

/** CodeMirror's names for the steps to undo and to redo. */
const stacks = ["done", "undone"] as const;
type Stacks<Step> = Readonly<Record<(typeof stacks)[number], readonly Step[]>>;

export interface KeptHistory {
  steps: unknown;
  /** For each step, the ranges that it restores as the models'. */
  written: Stacks<readonly Readonly<Part>[]>;
  /**
   * For each step, how undoing or redoing it affects the branches: it switches branch, changes the tree, or neither.
   */
  moves: Stacks<Move | TreeChange | null>;
}

interface Step {
  readonly effects: StateEffect<unknown>[];
  readonly changes?: ChangeSet;
  readonly mapped?: ChangeDesc;
  readonly startSelection?: EditorSelection;
  readonly selectionsAfter: readonly EditorSelection[];
}

const fields = { history: historyField };
const stepsOf = (state: EditorState) => state.field(historyField) as Stacks<Step>;

export function keepHistory(state: EditorState): KeptHistory {
  const { history: steps } = state.toJSON(fields) as { history: unknown };
  const { done, undone } = stepsOf(state);
  const writtenBy = ({ effects }: Step) =>
    partsOfAll(effects.flatMap((effect) => (effect.is(addWritten) ? effect.value : [])));
  const moveBy = ({ effects }: Step) =>
    effects.flatMap((effect) => (effect.is(goToBranch) || effect.is(changeTree) ? effect.value : []))[0] ??
    null;
  return {
    steps,
    written: { done: done.map(writtenBy), undone: undone.map(writtenBy) },
    moves: { done: done.map(moveBy), undone: undone.map(moveBy) },
  };
}

/**
 * The length of the text after each step of a stack, whose last step is taken first. Throws if the steps do not fit a
 * text of `length`, as CodeMirror would when it takes one.
 */
function lengthsAfter(steps: readonly Step[], length: number): number[] {
  const lengths: number[] = [];
  const expectInside = ({ ranges, main }: EditorSelection, end: number) => {
    const isInside = ranges.every(({ from, to }) => isOffset(from) && isOffset(to) && to <= end);
    if (!isInside || !ranges.includes(main)) throw new RangeError("outside the text");
  };
  for (const { changes, mapped, startSelection, selectionsAfter } of [...steps].reverse()) {
    const isWhole = Boolean(changes) === Boolean(startSelection);
    if (!isWhole || mapped || (changes && changes.length !== length)) throw new RangeError("of another text");
    for (const selection of selectionsAfter) expectInside(selection, length);
    length = changes?.newLength ?? length;
    if (startSelection) expectInside(startSelection, length);
    lengths.unshift(length);
  }
  return lengths;
}

/** Throws if CodeMirror's JSON of changes has invalid lengths, which CodeMirror itself does not check. */
function expectLengths(stack: unknown): void {
  for (const { changes } of (Array.isArray(stack) ? stack : []) as { changes?: unknown }[]) {
    const sections: unknown[] = Array.isArray(changes) ? changes : [];
    if (!sections.every((each) => isOffset(Array.isArray(each) ? each[0] : each)))
      throw new RangeError("a length that is none");
  }
}

const valueAt = (all: unknown, place: number): unknown => (Array.isArray(all) ? all[place] : undefined);

/** The state of `doc` with the history in `kept`; undefined if it has none or another release stored it. */
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
      expectLengths(steps[stack]);
      const lengths = lengthsAfter(stepsOf(state)[stack], doc.length);
      for (const [place, { effects }] of stepsOf(state)[stack].entries()) {
        const all = parseParts(valueAt(written?.[stack], place));
        const parts = all.filter(([, to]) => to <= (lengths[place] ?? 0));
        if (parts.length > 0) effects.push(addWritten.of(rangesOfParts(parts)));
        const move = parseMove(valueAt(moves?.[stack], place));
        if (move) effects.push(goToBranch.of(move));
        const change = parseChange(valueAt(moves?.[stack], place));
        if (change) effects.push(changeTree.of(change));
      }
    }
    return state;
  } catch {
    return undefined;
  }
}
