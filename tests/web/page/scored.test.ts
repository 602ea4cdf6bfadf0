// The tokens of a text in the editor: cut first, scored as the scores come.
import { EditorState, RangeSet, type Range } from "@codemirror/state";
import { expect, it, vi } from "vitest";
import { Written, addWritten } from "../../../web/page/document/written.js";
import {
  addScores,
  isSameToken,
  keepScores,
  Scored,
  scoredField,
  setScored,
  tokenAt,
} from "../../../web/page/document/scored.js";

const token = (from: number, to: number, index: number, logprob?: number, id = index) =>
  new Scored([id], logprob, logprob === undefined ? undefined : 1, index).range(from, to);

const stateOf = (...tokens: Range<Scored>[]) =>
  EditorState.create({ doc: "one two three four", extensions: scoredField }).update({
    effects: setScored.of(tokens),
  }).state;

/** Each token from offset `first` on: its range, its index and its score. */
function listOf(state: EditorState, first = 0) {
  const list: string[] = [];
  state.field(scoredField).between(first, state.doc.length, (from, to, { logprob, rank, ids, index }) => {
    if (from >= first) list.push(`${from}-${to} #${index} ids ${ids.join()} ${logprob} rank ${rank}`);
  });
  return list;
}

it("arriving scores replace only their tokens", () => {
  const before = stateOf(token(0, 3, 0), token(3, 7, 1), token(7, 13, 2, -9), token(13, 18, 3));
  const { state } = before.update({ effects: addScores.of([token(3, 7, 1, -1), token(7, 13, 2, -2)]) });
  expect(listOf(state)).toEqual([
    "0-3 #0 ids 0 undefined rank undefined",
    "3-7 #1 ids 1 -1 rank 1",
    "7-13 #2 ids 2 -2 rank 1",
    "13-18 #3 ids 3 undefined rank undefined",
  ]);
});

it("arriving scores keep what is shown if the same token is still there", () => {
  const before = stateOf(token(0, 3, 0, -1), token(3, 7, 1, -2), token(7, 13, 2, -3)).field(scoredField);
  const cut = [token(0, 3, 0, -5), token(3, 7, 4, undefined, 1), token(7, 13, 2, undefined, 8)];
  const kept = keepScores(before, cut).map(({ value }) => `#${value.index} ${value.logprob}`);
  expect(kept).toEqual(["#0 -5", "#4 -2", "#2 undefined"]); // the first has a new score, the last is another token
});

const written = (...tokens: { id: number; text?: string; rank: number; healed?: "some" | "all" }[]) =>
  new Written(tokens.map((each) => ({ index: 0, text: "", logprob: -each.rank, ...each })));
const shown = (...ranges: Range<Written>[]) => {
  return listOf(stateOf(token(0, 13, 0, -1)).update({ effects: addWritten.of(ranges) }).state, 13);
};

it("the model's text is scored while it is written, with all tokens of a character together", () => {
  const first = written({ id: 5, rank: 2 }, { id: 6, text: "é", rank: 9 });
  expect(shown(first.range(13, 14), written({ id: 7, text: " of", rank: 3 }).range(14, 17))).toEqual([
    "13-14 #1 ids 5,6 -11 rank 9",
    "14-17 #3 ids 7 -3 rank 3",
  ]);
});

it("a token that Undo brings back replaces those that it overlaps: the text may be cut otherwise by then", () => {
  const before = stateOf(token(0, 2, 0), token(2, 5, 1), token(5, 8, 2), token(8, 13, 3));
  const back = written({ id: 5, rank: 2 }).range(3, 7);
  expect(listOf(before.update({ effects: addWritten.of([back]) }).state)).toEqual([
    "0-2 #0 ids 0 undefined rank undefined",
    "3-7 #2 ids 5 -2 rank 2",
    "8-13 #3 ids 3 undefined rank undefined",
  ]);
});

it("the model's text excludes what only heals the text before", () => {
  const all = written({ id: 5, rank: 200, healed: "all" }, { id: 6, text: " of", rank: 2 });
  expect(shown(all.range(13, 16))).toEqual(["13-16 #1 ids 6 -2 rank 2"]);
});

it("the model's text waits for its score if its token includes some of the text before", () => {
  const some = written({ id: 5, rank: 2, healed: "all" }, { id: 6, text: "r", rank: 4, healed: "some" });
  const half = written({ id: 5, rank: 2, healed: "some" }, { id: 6, text: "é", rank: 4 });
  expect(shown(some.range(13, 14))).toEqual(["13-14 #1 ids 6 undefined rank undefined"]);
  expect(shown(half.range(13, 14))).toEqual(["13-14 #1 ids 5,6 undefined rank undefined"]);
});

it("tokenAt returns the token that contains an offset or ends there", () => {
  const set = stateOf(token(0, 3, 0), token(3, 7, 1)).field(scoredField);
  const found = [0, 1, 3, 4, 7, 9].map((offset) => tokenAt(set, offset)?.value.index);
  expect(found.join()).toBe("0,0,0,1,1,");
});

it("a token counts as the same, scored or not", () => {
  expect(isSameToken(token(0, 3, 0), token(0, 3, 0, -1))).toBe(true);
  expect(isSameToken(token(0, 3, 0), token(0, 3, 0, -1, 5))).toBe(false);
  expect(isSameToken(token(0, 3, 0), token(0, 3, 1, -1, 0))).toBe(false);
  expect(isSameToken(token(0, 3, 0), token(0, 4, 0))).toBe(false);
});

it.each([
  ["cut", setScored.of([token(13, 18, 0), token(18, 22, 1)])],
  ["scored", addScores.of([token(13, 22, 0, -1)])],
  ["written", addWritten.of([written({ id: 1, rank: 1 }).range(13, 22)])],
])("typing goes on after tokens of a longer text were %s", (_, effects) => {
  let { state } = stateOf(token(0, 3, 0)).update({ effects });
  expect(listOf(state).every((line) => Number(/-(\d+)/.exec(line)?.[1]) <= state.doc.length)).toBe(true);
  state = state.update({ changes: { from: 18, insert: "!" } }).state;
  expect(state.doc.toString()).toBe("one two three four!");
});

it("typing goes on after an error in the tokens, which are dropped", () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => {});
  const extensions = scoredField.init(() => RangeSet.of([token(0, 3, 0), token(14, 99, 1)]));
  const before = EditorState.create({ doc: "one two three four", extensions });
  const { state } = before.update({ changes: { from: 8, insert: "!" } });
  expect([state.doc.toString(), listOf(state)]).toEqual(["one two !three four", []]);
  expect(log).toHaveBeenCalledOnce();
  log.mockRestore();
});
