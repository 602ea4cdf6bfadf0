// Where the model writes on after you pressed a word.
import { EditorState, type TransactionSpec } from "@codemirror/state";
import { expect, it } from "vitest";
import { pressedField, writeHere, writingPlace } from "../../../web/page/document/writing-place.js";

const press: TransactionSpec = { selection: { anchor: 5 }, userEvent: "select.pointer" };

it.each<[name: string, place: number, ...after: TransactionSpec[]]>([
  ["keeps the place while you look at one word after another", 16, press],
  ["moves along with text that the model adds there", 19, { changes: { from: 16, insert: "the" } }],
  ["is where you press once more", 5, { effects: writeHere.of(null) }],
  ["is where you type", 5, { changes: { from: 5, insert: "s" }, userEvent: "input.type" }],
  ["is where you delete", 4, { changes: { from: 4, to: 5 }, userEvent: "delete.backward" }],
  ["is where a key moves the caret", 6, { selection: { anchor: 6 }, userEvent: "select" }],
  ["is at the end of what you select", 9, { selection: { anchor: 5, head: 9 }, userEvent: "select.pointer" }],
])("after a press of a word, the model's place %s", (_, place, ...after) => {
  const doc = "Once upon a time";
  let state = EditorState.create({ doc, selection: { anchor: doc.length }, extensions: pressedField });
  for (const spec of [press, ...after]) state = state.update(spec).state;
  expect(writingPlace(state)).toBe(place);
});
