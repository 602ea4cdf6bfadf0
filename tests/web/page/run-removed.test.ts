// @vitest-environment happy-dom
// When text of the model's last run is removed, its reading ends.
import { history, redo, undo } from "@codemirror/commands";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { expect, it, vi } from "vitest";
import type { Token } from "../../../web/src/client/index.js";
import { piecesOf } from "../../../web/page/document/pieces.js";
import { closeRun, growRun, openRun, putPieces, runField, runs } from "../../../web/page/document/run.js";
import { onRunRemoved } from "../../../web/page/document/run-removed.js";
import { writtenTracking } from "../../../web/page/document/written.js";

const token = (text: string): Token => ({ index: 0, id: 1, text, logprob: -1, rank: 1 });

/** An editor in which the model has written " upon a" after "Once", and the visitor " time". */
function write() {
  const removed = vi.fn();
  const extensions = [writtenTracking, runs, history(), onRunRemoved(removed)];
  const view = new EditorView({ state: EditorState.create({ doc: "Once", extensions }) });
  const run = () => view.state.field(runField) ?? expect.fail("no run");
  view.dispatch(openRun(4, 4));
  for (const text of [" upon", " a"]) view.dispatch(growRun(view.state, run(), [token(text)]));
  view.dispatch(closeRun(run()));
  view.dispatch({ changes: { from: 11, insert: " time" }, userEvent: "input.type" });
  expect(view.state.doc.toString()).toBe("Once upon a time");
  expect(removed).not.toHaveBeenCalled();
  return { view, removed };
}

it.each<[string, (view: EditorView) => unknown]>([
  [
    "Undo takes the run back",
    (view) => {
      undo(view);
      undo(view);
    },
  ],
  [
    "another text replaces everything",
    (view) => view.dispatch({ changes: { from: 0, to: 16, insert: "Another" } }),
  ],
  [
    "the model goes on with another token",
    (view) => view.dispatch(putPieces(view.state, 10, 16, piecesOf([token("b")]))),
  ],
  ["the visitor deletes a word of it", (view) => view.dispatch({ changes: { from: 5, to: 9 } })],
])("the end of the reading is asked for when %s", (_, change) => {
  const { view, removed } = write();
  change(view);
  expect(removed).toHaveBeenCalledTimes(1);
});

it("the reading goes on when other text is undone, deleted or inserted", () => {
  const { view, removed } = write();
  undo(view);
  redo(view);
  view.dispatch({ changes: { from: 0, to: 4 } });
  view.dispatch({ changes: { from: 3, insert: "!" } });
  expect(removed).not.toHaveBeenCalled();
});
