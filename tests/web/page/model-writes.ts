// A model writes into a text of the editor, and the visitor undoes and redoes it.
import type { StateCommand } from "@codemirror/state";
import { EditorState } from "@codemirror/state";
import { expect } from "vitest";
import type { Token } from "../../../web/src/client/index.js";
import { closeRun, growRun, openRun, runField } from "../../../web/page/document/run.js";

export const token = (text: string): Token => ({ index: 0, id: 1, text, logprob: -1, rank: 1 });

export const runOf = (state: EditorState) => state.field(runField) ?? expect.fail("no run");

/** Begins to write at `from`, in place of the text up to `to`. */
export const openAt = (state: EditorState, from: number, to = from): EditorState =>
  state.update(openRun(from, to)).state;

/** Writes a token of each text. */
export const grow = (state: EditorState, ...texts: string[]): EditorState =>
  texts.reduce((now, text) => now.update(growRun(now, runOf(now), [token(text)])).state, state);

export const close = (state: EditorState): EditorState => state.update(closeRun(runOf(state))).state;

/** Writes at the end. */
export const writeOn = (state: EditorState, ...texts: string[]): EditorState =>
  close(grow(openAt(state, state.doc.length), ...texts));

/** The state after a command such as Undo. */
export function after(command: StateCommand, state: EditorState): EditorState {
  let next = state;
  command({ state, dispatch: (transaction) => (next = transaction.state) });
  return next;
}
