// @vitest-environment happy-dom
// One run of the model is exactly one step of the history; removing text of it ends its reading.
import { history, redo, undo } from "@codemirror/commands";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { expect, it, vi } from "vitest";
import { piecesOf } from "../../../web/page/document/pieces.js";
import { breakParagraph, openRun, putPieces, runField, runs } from "../../../web/page/document/run.js";
import { onRunRemoved } from "../../../web/page/document/run-removed.js";
import { writtenTracking } from "../../../web/page/document/written.js";
import { after, close, grow, token, writeOn } from "./model-writes.js";

const extensions = [writtenTracking, runs, history()];
const begun = EditorState.create({ doc: "Once", extensions });
const first = writeOn(begun, " upon", " a");

it("two runs are two undo steps, even if the first token of the second has no text", () => {
  const state = writeOn(first, "", " time", " there");
  expect(state.doc.toString()).toBe("Once upon a time there");
  const before = after(undo, state);
  expect(before.doc.toString()).toBe("Once upon a");
  expect(after(undo, before).doc.toString()).toBe("Once");
});

it.each([
  ["", "Once"],
  ["!", "Once\n\n"],
])(
  "a paragraph and the run in it are one undo step, unless the visitor types %j between them",
  (typed, back) => {
    const paragraph = begun.update(breakParagraph(4, "\n\n")).state;
    const change = { changes: { from: 6, insert: typed }, userEvent: "input.type" };
    const { state } = typed === "" ? { state: paragraph } : paragraph.update(change);
    const at = state.doc.length;
    const written = close(grow(state.update(openRun(at, at, true)).state, " So", " it"));
    expect(written.doc.toString()).toBe(`Once\n\n${typed} So it`);
    const undone = after(undo, written);
    expect((typed === "" ? undone : after(undo, undone)).doc.toString()).toBe(back);
    expect(after(redo, after(undo, written)).doc.toString()).toBe(`Once\n\n${typed} So it`);
  },
);

/** An editor in which the model has written " upon a" after "Once", and the visitor " time". */
function write() {
  const removed = vi.fn();
  const start = EditorState.create({ doc: "Once", extensions: [...extensions, onRunRemoved(removed)] });
  const view = new EditorView({ state: writeOn(start, " upon", " a") });
  view.dispatch({ changes: { from: 11, insert: " time" }, userEvent: "input.type" });
  expect([view.state.doc.toString(), removed.mock.calls.length]).toEqual(["Once upon a time", 0]);
  return { view, removed };
}

it.each<[string, (view: EditorView) => unknown]>([
  ["Undo takes the run back", (view) => undo(view) && undo(view)],
  ["another text replaces it", (view) => view.dispatch({ changes: { from: 0, to: 16, insert: "Or" } })],
  ["a token replaces it", (view) => view.dispatch(putPieces(view.state, 10, 16, piecesOf([token("b")])))],
  ["the visitor deletes a word of it", (view) => view.dispatch({ changes: { from: 5, to: 9 } })],
])("the end of the reading is asked for when %s", (_, change) => {
  const { view, removed } = write();
  change(view);
  expect(removed).toHaveBeenCalledTimes(1);
});

const awaited = begun.update(openRun(4, 4)).state;
it.each([
  [0, 4, undefined],
  [1, 4, "awaited"],
  [4, 4, "awaited"],
])("before its first token, a run ends only with all of its prompt: %i to %i", (from, to, stage) => {
  const { state } = awaited.update({ changes: { from, to, insert: "x" }, userEvent: "input.type" });
  expect(state.field(runField)?.stage).toBe(stage);
});

it.each<[string, number, number, string, string]>([
  ["ends when the visitor deletes all of its text", 0, 11, "", "closed"],
  ["ends when the visitor types over all of its text", 4, 11, "x", "closed"],
  ["goes on when the visitor deletes a part of its text", 5, 11, "", "open"],
  ["goes on when the visitor deletes the text before it", 0, 4, "", "open"],
])("a run that is being written %s", (_, from, to, insert, stage) => {
  const writing = grow(awaited, " upon", " a");
  const { state } = writing.update({ changes: { from, to, insert }, userEvent: "input.type" });
  expect(state.field(runField)?.stage).toBe(stage);
});

it("the reading goes on when other text is undone, deleted or inserted", () => {
  const { view, removed } = write();
  undo(view);
  redo(view);
  view.dispatch({ changes: { from: 0, to: 4 } });
  view.dispatch({ changes: { from: 3, insert: "!" } });
  expect(removed).not.toHaveBeenCalled();
});
