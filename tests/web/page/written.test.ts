// Who wrote each part of the text, and in which language each model wrote.
import { history, redo, undo } from "@codemirror/commands";
import { EditorState } from "@codemirror/state";
import { expect, it } from "vitest";
import { keepHistory, openKept } from "../../../web/page/document/kept-history.js";
import { parseKept } from "../../../web/page/document/parse-kept.js";
import { runs } from "../../../web/page/document/run.js";
import { toKeptText, writingLanguage, writtenTracking } from "../../../web/page/document/written.js";
import type { TextLanguage } from "../../../web/page/document/kept-text.js";
import { after, writeOn } from "./model-writes.js";

let language: TextLanguage;
const extensions = [writtenTracking, runs, history(), writingLanguage.of(() => language)];

/** A text by two models. */
function ofTwo(): EditorState {
  language = "en";
  const first = writeOn(EditorState.create({ doc: "Once", extensions }), " upon");
  language = "";
  return writeOn(first, " a time");
}

const parts = [
  [4, 9, "en"],
  [9, 16],
];

it("text that is undone and redone after a reload keeps its language, too", () => {
  const undone = after(undo, after(undo, ofTwo()));
  const kept = JSON.parse(JSON.stringify(keepHistory(undone))) as unknown;
  const opened = openKept({ ...toKeptText(undone), history: kept }, undefined, []);
  expect(toKeptText(after(redo, after(redo, opened))).written).toEqual(parts);
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
