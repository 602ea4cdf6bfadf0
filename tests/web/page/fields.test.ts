// @vitest-environment happy-dom
// The fields belong to their text: another text has its own, and Undo returns both.
import { history, isolateHistory, redo, undo } from "@codemirror/commands";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { signal } from "@preact/signals-core";
import { expect, it } from "vitest";
import {
  fieldsField,
  fieldSteps,
  mirrorFields,
  setFields,
  typeFields,
} from "../../../web/page/document/fields.js";
import { keepHistory, openKept } from "../../../web/page/document/kept-history.js";
import { parseKept } from "../../../web/page/document/parse-kept.js";
import { toKeptText, writtenTracking } from "../../../web/page/document/written.js";
import type { ContextFields } from "../../../web/page/state/context-fields.js";

const first = { remember: "Max talks.", note: "It is dark." };
const typed = { remember: "", note: "It rains." };

function mount() {
  const fields = signal<ContextFields | undefined>(first);
  const mirror: Extension = mirrorFields(fields);
  const extensions = [history(), writtenTracking, fieldSteps(first), mirror];
  const view = new EditorView({ state: EditorState.create({ doc: "one", extensions }) });
  const shown = () => [view.state.doc.toString(), fields.value];
  const showOther = (insert: string, other?: ContextFields) =>
    view.dispatch({
      changes: { from: 0, to: view.state.doc.length, insert },
      effects: setFields.of(other ?? null),
      annotations: isolateHistory.of("full"),
    });
  const reload = () => {
    const record = { ...toKeptText(view.state), history: keepHistory(view.state) };
    const kept = parseKept(JSON.parse(JSON.stringify(record))) ?? expect.fail("the record is invalid");
    view.setState(openKept(kept, view.state.field(fieldsField), mirror));
  };
  return { view, shown, showOther, reload };
}

it("after a reload, Undo returns a text with the fields that it had, and Redo the other one with its own", () => {
  const { view, shown, showOther, reload } = mount();
  showOther("two");
  expect(shown()).toEqual(["two", undefined]);
  view.dispatch(typeFields(typed));
  showOther("three", { remember: "", note: "A link." });
  reload();
  undo(view);
  expect(shown()).toEqual(["two", typed]);
  undo(view);
  expect(shown()).toEqual(["one", first]);
  reload();
  redo(view);
  expect(shown()).toEqual(["two", typed]);
  redo(view);
  expect(shown()).toEqual(["three", { remember: "", note: "A link." }]);
});

it("typing in a field is not a step to undo", () => {
  const { view, shown } = mount();
  view.dispatch({ changes: { from: 3, insert: "!" } });
  view.dispatch(typeFields(typed));
  undo(view);
  expect(shown()).toEqual(["one", typed]);
  expect(undo(view)).toBe(false);
});
