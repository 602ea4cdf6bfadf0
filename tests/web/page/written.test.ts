// Who wrote each part of the text, and in which language each model wrote.
import { history, redo, undo } from "@codemirror/commands";
import { EditorState } from "@codemirror/state";
import { expect, it } from "vitest";
import { keepHistory, openKept } from "../../../web/page/document/kept-history.js";
import { parseKept } from "../../../web/page/document/parse-kept.js";
import { growRun, openRun, runField, runs } from "../../../web/page/document/run.js";
import { toKeptText, writingLanguage, writtenTracking } from "../../../web/page/document/written.js";
import type { TextLanguage } from "../../../web/page/document/kept-text.js";

let language: TextLanguage;
const extensions = [writtenTracking, runs, history(), writingLanguage.of(() => language)];

/** The state after a model of the current `language` has written `text` at the end. */
function write(state: EditorState, text: string): EditorState {
  const { length } = state.doc;
  const open = state.update(openRun(length, length)).state;
  const run = open.field(runField) ?? expect.fail("no run");
  return open.update(growRun(open, run, [{ id: 1, text, index: 0, logprob: 0, rank: 1 }])).state;
}

/** A text by two models. */
function ofTwo(): EditorState {
  language = "en";
  const first = write(EditorState.create({ doc: "Once", extensions }), " upon");
  language = "";
  return write(first, " a time");
}

const parts = [
  [4, 9, "en"],
  [9, 16],
];

it("each model's text keeps its language when another model writes", () => {
  expect(toKeptText(ofTwo()).written).toEqual(parts);
});

it("text that is undone and redone after a reload keeps its language, too", () => {
  let state = ofTwo();
  const dispatch = { dispatch: (transaction: { state: EditorState }) => (state = transaction.state) };
  undo({ state, ...dispatch });
  undo({ state, ...dispatch });
  const kept = JSON.parse(JSON.stringify(keepHistory(state))) as unknown;
  state = openKept({ ...toKeptText(state), history: kept }, undefined, []);
  redo({ state, ...dispatch });
  redo({ state, ...dispatch });
  expect(toKeptText(state).written).toEqual(parts);
});

it("stored ranges are read one by one, also those of an earlier release", () => {
  const kept = { text: "Once upon a time", caret: 3, written: [[0, 2], ...parts, [1, 2, "xx"], [1], "en"] };
  expect(parseKept(kept)?.written).toEqual([[0, 2], ...parts]);
});

it.each([
  [
    [2, 5],
    [2, 5],
  ],
  [[5, 2], undefined],
  ["all", undefined],
])("the stored run %j is read as %j", (run, expected) => {
  expect(parseKept({ text: "Once", caret: 0, written: [], run })?.run).toEqual(expected);
});
