// One run of the model is exactly one step of the history.
import { history, redo, undo } from "@codemirror/commands";
import { EditorState } from "@codemirror/state";
import { expect, it } from "vitest";
import type { Token } from "../../../web/src/client/index.js";
import { closeRun, growRun, openRun, runField, runs } from "../../../web/page/document/run.js";
import { writtenTracking } from "../../../web/page/document/written.js";

const token = (text: string): Token => ({ index: 0, id: 1, text, logprob: -1, rank: 1 });

/** Writes at the end, a token at a time. */
function write(state: EditorState, ...texts: string[]): EditorState {
  const run = (each: EditorState) => each.field(runField) ?? expect.fail("no run");
  let next = state.update(openRun(state.doc.length, state.doc.length)).state;
  for (const text of texts) next = next.update(growRun(next, run(next), [token(text)])).state;
  return next.update(closeRun(run(next))).state;
}

function undone(state: EditorState): EditorState {
  let next = state;
  undo({ state, dispatch: (transaction) => (next = transaction.state) });
  return next;
}

function redone(state: EditorState): EditorState {
  let next = state;
  redo({ state, dispatch: (transaction) => (next = transaction.state) });
  return next;
}

const runText = (state: EditorState) => {
  const { from, to } = state.field(runField) ?? expect.fail("no run");
  return state.sliceDoc(from, to);
};

it("Undo and Redo restore which text the model wrote last", () => {
  const begun = EditorState.create({ doc: "Once", extensions: [writtenTracking, runs, history()] });
  const first = write(begun, " upon", " a");
  const second = write(first, " time", " there");
  expect(runText(second)).toBe(" time there");
  const before = undone(second);
  expect(runText(before)).toBe(" upon a");
  expect(runText(redone(before))).toBe(" time there");
  expect(undone(first).field(runField)).toBeNull();
  expect(runText(redone(undone(first)))).toBe(" upon a");
});

it("Undo after a replaced run brings the earlier run back", () => {
  const begun = EditorState.create({ doc: "Once", extensions: [writtenTracking, runs, history()] });
  const first = write(begun, " upon", " a");
  const { from, to } = first.field(runField) ?? expect.fail("no run");
  const opened = first.update(openRun(from, to)).state;
  const other = opened.update(
    growRun(opened, opened.field(runField) ?? expect.fail("no run"), [token(" more")]),
  ).state;
  const closed = other.update(closeRun(other.field(runField) ?? expect.fail("no run"))).state;
  expect(closed.doc.toString()).toBe("Once more");
  expect(runText(undone(closed))).toBe(" upon a");
  expect(runText(redone(undone(closed)))).toBe(" more");
});

it("two runs are two undo steps, even if the first token of the second has no text", () => {
  const begun = EditorState.create({ doc: "Once", extensions: [writtenTracking, runs, history()] });
  const state = write(write(begun, " upon", " a"), "", " time", " there");
  expect(state.doc.toString()).toBe("Once upon a time there");
  const before = undone(state);
  expect(before.doc.toString()).toBe("Once upon a");
  expect(undone(before).doc.toString()).toBe("Once");
});
