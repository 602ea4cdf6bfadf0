import { expect, it } from "vitest";
import type { Token } from "../../../web/src/client/index.js";
import { splitPieces, piecesOf, rangesAt, textOf } from "../../../web/page/document/pieces.js";

const tokens = (...texts: string[]): Token[] =>
  texts.map((text, index) => ({ id: 100 + index, text, index, logprob: 0, rank: 1 }));
const idsOf = (pieces: readonly { tokens: readonly Token[] }[]) =>
  pieces.map((piece) => piece.tokens.map(({ id }) => id));

it("piecesOf returns one piece per token, or per character if that has several tokens", () => {
  const pieces = piecesOf(tokens(" a", "", "", "🍓", "!", ""));
  expect(pieces.map(({ text }) => text)).toEqual([" a", "🍓", "!"]); // without an unfinished character
  expect(idsOf(pieces)).toEqual([[100], [101, 102, 103], [104]]);
});

it("piecesOf normalizes line ends like the editor, whose offsets depend on it", () => {
  expect(textOf(piecesOf(tokens("a\r\n", "\r", "b\n")))).toBe("a\n\nb\n");
});

const pieces = piecesOf(tokens(" one", " two", " three"));

it.each([
  [0, "", " one two three"],
  [4, " one", " two three"],
  [6, " one t", "wo three"],
  [14, " one two three", ""],
  [Infinity, " one two three", ""],
  [-1, "", " one two three"],
])("splitPieces at %j has %j before and %j after", (length, before, after) => {
  expect(splitPieces(pieces, length).map(textOf)).toEqual([before, after]);
});

it("splitPieces keeps the tokens of whole pieces, and drops those of split ones", () => {
  const [before, after] = splitPieces(pieces, 6);
  expect(idsOf(before)).toEqual([[100], []]);
  expect(idsOf(after)).toEqual([[], [102]]);
});

it("rangesAt places one piece after another", () => {
  const ranges = rangesAt(10, piecesOf(tokens("ab", "", "🍓", "c")), "en");
  expect(ranges.map(({ from, to }) => `${from}-${to}`)).toEqual(["10-12", "12-14", "14-15"]);
  expect(idsOf(ranges.map(({ value }) => value))).toEqual([[100], [101, 102], [103]]);
});
