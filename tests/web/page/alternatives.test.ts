// A text that replaces the last one is kept as an alternative.
import { history, redo, undo } from "@codemirror/commands";
import { EditorState } from "@codemirror/state";
import { expect, it } from "vitest";
import {
  alternativeOf,
  alternativesField,
  keepAlternatives,
  mostAlternatives,
  parseAlternatives,
  toAlternative,
} from "../../../web/page/document/alternatives.js";
import { runs } from "../../../web/page/document/run.js";
import { partsOf, writtenField, writtenTracking } from "../../../web/page/document/written.js";
import { after, close, grow, openAt, runOf, writeOn } from "./model-writes.js";

const begin = () =>
  EditorState.create({ doc: "Once", extensions: [writtenTracking, runs, alternativesField, history()] });
const partsIn = (state: EditorState) => partsOf(state.field(writtenField));
/** Begins to replace the last run. */
const openAgain = (state: EditorState) => openAt(state, runOf(state).from, runOf(state).to);
const again = (state: EditorState, ...texts: string[]) => close(grow(openAgain(state), ...texts));
const writeFirst = (state: EditorState, text: string) => close(grow(openAt(state, 0), text));
const step = (state: EditorState, by: 1 | -1) =>
  state.update(toAlternative(state, by) ?? expect.fail("there is but one")).state;
/** A text with two alternatives, of which the second is shown. */
const ofTwo = () => again(writeOn(begin(), " upon"), " more");
const keptTexts = (state: EditorState) => keepAlternatives(state)?.all.map(({ text }) => text);
const seen = (state: EditorState) => [state.doc.toString(), alternativeOf(state)];

it("each text written at a place is kept, and the steps go around among them", () => {
  const first = writeOn(begin(), " upon", " a");
  expect(alternativeOf(first)).toBeUndefined();
  const third = again(again(first, " more"), " there was");
  expect(seen(third)).toEqual(["Once there was", { place: 2, count: 3 }]);
  const back = step(third, -1);
  expect(seen(back)).toEqual(["Once more", { place: 1, count: 3 }]);
  expect(partsIn(back)).toEqual([[4, 9]]);
  expect(seen(step(back, -1))).toEqual(["Once upon a", { place: 0, count: 3 }]);
  expect(seen(step(third, 1))).toEqual(["Once upon a", { place: 0, count: 3 }]);
  expect(back.selection.main.head).toBe("Once more".length);
});

it("one alternative too many replaces the oldest, so that a file with all of them can be imported", () => {
  let state = writeOn(begin(), " 0");
  for (let count = 1; count <= mostAlternatives; ++count) state = again(state, ` ${count}`);
  expect(seen(state)).toEqual([`Once ${mostAlternatives}`, { place: 999, count: mostAlternatives }]);
  expect(seen(step(state, 1))[0]).toBe("Once 1");
});

it("after Undo, an edited alternative takes the place of the one that is shown, and no other", () => {
  const undone = after(undo, ofTwo());
  const edited = undone.update({ changes: { from: 7, to: 8, insert: "i" } }).state;
  expect(seen(step(edited, 1))).toEqual(["Once more", { place: 1, count: 2 }]);
  expect(seen(step(step(edited, 1), 1))).toEqual(["Once upin", { place: 0, count: 2 }]);
});

it("the last run and its alternatives stay until a token is written at another place", () => {
  const second = ofTwo();
  const typed = openAt(second, 0).update({ changes: { from: 0, insert: "Well! " } }).state;
  expect(keepAlternatives(typed)?.all.length).toBe(2);
  const left = close(typed);
  expect(seen(left)).toEqual(["Well! Once more", { place: 1, count: 2 }]);
  expect(seen(step(left, 1))).toEqual(["Well! Once upon", { place: 0, count: 2 }]);
});

it("an alternative that Undo removes while it is being written is kept", () => {
  const half = grow(openAgain(writeOn(begin(), " upon")), " more");
  const undone = after(undo, half);
  expect(seen(undone)).toEqual(["Once upon", { place: 0, count: 2 }]);
  const third = again(after(redo, undone), " there");
  expect(keptTexts(third)).toEqual([" upon", " more", " there"]);
});

it("a text that is being written is stored beside the others", () => {
  expect(keptTexts(grow(openAgain(ofTwo()), " le"))).toEqual([" upon", " more", " le"]);
});

it("an edited alternative is kept when another is shown, with who wrote which part", () => {
  const second = again(writeOn(begin(), " upon", " a"), " more", " than");
  const edited = second.update({ changes: { from: 5, to: 9, insert: "less" } }).state;
  expect(alternativeOf(edited)).toEqual({ place: 1, count: 2 });
  const there = step(step(edited, 1), 1);
  expect(seen(there)).toEqual(["Once less than", { place: 1, count: 2 }]);
  expect(partsIn(there)).toEqual([[9, 14]]);
});

it("text around an alternative stays, and another place has no alternatives", () => {
  const second = ofTwo();
  const around = second.update({
    changes: [
      { from: 0, insert: "Well! " },
      { from: 9, insert: " End" },
    ],
  }).state;
  expect(seen(step(around, -1))).toEqual(["Well! Once upon End", { place: 0, count: 2 }]);
  expect(alternativeOf(writeFirst(around, "Oh. "))).toBeUndefined();
});

it("the same text is not kept twice, and a run without text is not kept", () => {
  const first = writeOn(begin(), " upon");
  expect(alternativeOf(again(first, " upon"))).toBeUndefined();
  expect(alternativeOf(again(first))).toBeUndefined();
});

it("alternatives can be stored and read again, without damaged ones", () => {
  const edited = again(writeOn(begin(), " upon", " a"), " more");
  const kept = JSON.parse(JSON.stringify(keepAlternatives(edited))) as object;
  expect(parseAlternatives(kept).all.map(({ text }) => text)).toEqual([" upon a", " more"]);
  expect(parseAlternatives(kept).shown).toBe(1);
  const damaged = { all: [{ text: "a", written: [[0, 9]] }, { text: 3 }, null, { text: "b" }], shown: 7 };
  expect(parseAlternatives(damaged)).toMatchObject({
    all: [{ text: "a", written: [] }, { text: "b" }],
    shown: 0,
  });
  for (const none of [undefined, null, 3, [], { all: "x" }, { all: [{ text: "a" }] }])
    expect(parseAlternatives(none).all).toEqual([]);
});

it("a stored part that ends after its text's lines is dropped", () => {
  const all = [
    { text: "a\r\nb", written: [[0, 4]] },
    { text: "c", written: [[0, 1]] },
  ];
  const [first, second] = parseAlternatives({ all, shown: 0 }).all;
  expect([first?.text, first?.written.length]).toEqual(["a\nb", 0]);
  expect(second?.written.length).toBe(1);
});
