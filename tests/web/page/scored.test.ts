// The tokens of a text in the editor: cut first, scored as the scores come.
import { EditorState, type Range } from "@codemirror/state";
import { describe, expect, it } from "vitest";
import {
  addScores,
  isSameToken,
  keepScores,
  Scored,
  scoredField,
  setScored,
  tokenAt,
} from "../../../web/page/seeing/scored.js";

const token = (from: number, to: number, index: number, logprob?: number, id = index) =>
  new Scored([id], logprob, logprob === undefined ? undefined : 1, index).range(from, to);

const stateOf = (...tokens: Range<Scored>[]) =>
  EditorState.create({ doc: "one two three four", extensions: scoredField }).update({
    effects: setScored.of(tokens),
  }).state;

function listOf(state: EditorState) {
  const list: unknown[] = [];
  state.field(scoredField).between(0, state.doc.length, (from, to, { logprob, index }) => {
    list.push([from, to, index, logprob]);
  });
  return list;
}

describe("scores that come", () => {
  it("take the place of those tokens alone", () => {
    const before = stateOf(token(0, 3, 0), token(3, 7, 1), token(7, 13, 2, -9), token(13, 18, 3));
    const { state } = before.update({ effects: addScores.of([token(3, 7, 1, -1), token(7, 13, 2, -2)]) });
    expect(listOf(state)).toEqual([
      [0, 3, 0, undefined],
      [3, 7, 1, -1],
      [7, 13, 2, -2],
      [13, 18, 3, undefined],
    ]);
  });

  it("find what was shown still there, where the same token stands", () => {
    const before = stateOf(token(0, 3, 0, -1), token(3, 7, 1, -2), token(7, 13, 2, -3)).field(scoredField);
    const cut = [token(0, 3, 0, -5), token(3, 7, 4, undefined, 1), token(7, 13, 2, undefined, 8)];
    expect(keepScores(before, cut).map(({ value }) => [value.index, value.logprob])).toEqual([
      [0, -5], // is known anew
      [4, -2],
      [2, undefined], // another token
    ]);
  });
});

describe("a token", () => {
  it("is the one that an offset is in, or behind", () => {
    const set = stateOf(token(0, 3, 0), token(3, 7, 1)).field(scoredField);
    expect([0, 1, 3, 4, 7, 9].map((offset) => tokenAt(set, offset)?.value.index)).toEqual([
      0,
      0,
      0,
      1,
      1,
      undefined,
    ]);
  });

  it("is the same, scored or not", () => {
    expect(isSameToken(token(0, 3, 0), token(0, 3, 0, -1))).toBe(true);
    expect(isSameToken(token(0, 3, 0), token(0, 3, 0, -1, 5))).toBe(false);
    expect(isSameToken(token(0, 3, 0), token(0, 3, 1, -1, 0))).toBe(false);
    expect(isSameToken(token(0, 3, 0), token(0, 4, 0))).toBe(false);
  });
});
