// The tokens of a text, joined to whole characters.
import { expect, it } from "vitest";
import { tokenizeText } from "../../../web/page/assistant/cut.js";

const signal = new AbortController().signal;

/** The tokens of `text`, of which each is in the text at two numbers of `places`. */
async function cutOf(text: string, ...places: [number, number][]) {
  const asked: unknown[] = [];
  const tokenize = async (...call: unknown[]) => {
    asked.push(call);
    const [starts, ends] = [places.map(([start]) => start), places.map(([, end]) => end)];
    return { ids: places.map((_, index) => 10 + index), starts, ends };
  };
  const { ids, tokens } = await tokenizeText({ tokenize: tokenize as never }, text, signal);
  return { asked, ids, cut: tokens.map(({ from, to, first, ...own }) => [from, to, first, own.ids]) };
}

it("an empty text has no tokens, and needs no request", async () => {
  expect(await cutOf("", [0, 0])).toEqual({ asked: [], ids: [], cut: [] });
});

it("special tokens of the text are read as tokens, and places are requested", async () => {
  const { asked, ids, cut } = await cutOf("ab c", [0, 2], [2, 4]);
  expect(asked).toEqual([["ab c", { allowSpecial: true, places: true, signal }]]);
  expect(ids).toEqual([10, 11]);
  expect(cut).toEqual([
    [0, 2, 0, [10]],
    [2, 4, 1, [11]],
  ]);
});

it("tokens that share a character are joined", async () => {
  const { cut } = await cutOf("a🍓éx", [0, 3], [1, 3], [1, 4], [3, 4], [4, 5]);
  expect(cut).toEqual([
    [0, 4, 0, [10, 11, 12, 13]],
    [4, 5, 4, [14]],
  ]);
});

it("tokens that a template adds are left out, and dropped spaces belong to the next token or the last", async () => {
  const { ids, cut } = await cutOf(" a  b ", [0, 0], [1, 2], [4, 5], [6, 6]);
  expect(ids).toEqual([10, 11, 12, 13]);
  expect(cut).toEqual([
    [0, 2, 1, [11]],
    [2, 6, 2, [12]],
  ]);
});
