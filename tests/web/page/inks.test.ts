// The colour of the models' text.
import { EditorState } from "@codemirror/state";
import { expect, it } from "vitest";
import { inksOf } from "../../../web/page/document/inks.js";
import { addWritten, rangesOfParts, writtenField } from "../../../web/page/document/written.js";

it("the model's text may begin or end exactly at an edge of the visible part of a long text", () => {
  const { state } = EditorState.create({ doc: "seen above\nmine\nbelow", extensions: writtenField }).update({
    effects: addWritten.of(
      rangesOfParts([
        [0, 11],
        [12, 14],
        [15, 21],
      ]),
    ),
  });
  const inks: [number, number][] = [];
  inksOf({ state, visibleRanges: [{ from: 11, to: 15 }] }).between(0, 21, (from, to) => {
    inks.push([from, to]);
  });
  expect(inks).toEqual([[12, 14]]);
});
