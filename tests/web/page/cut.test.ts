// The places of tokens in a text, with a model whose tokens are bytes.
import { expect, it } from "vitest";
import { cutText, decodeAll, tokenizeText } from "../../../web/page/assistant/cut.js";

const signal = new AbortController().signal;
const end = 0;
const endText = "<|endoftext|>";

/** Ids from 1 on are `tokens`, each some bytes. */
function make(tokens: readonly (string | readonly number[])[], eosTokenId: number | null = end) {
  const bytes = tokens.map((token) => (typeof token === "string" ? new TextEncoder().encode(token) : token));
  const asked: number[][] = [];
  const decode = (ids: readonly number[]) => {
    const all = ids.flatMap((id) => [
      ...(id === end ? new TextEncoder().encode(endText) : (bytes[id - 1] ?? [])),
    ]);
    return new TextDecoder().decode(Uint8Array.from(all));
  };
  const model = {
    info: { config: { eosTokenId } },
    detokenize: async (given: ArrayLike<number | bigint>) => {
      const ids = Array.from(given, Number);
      asked.push(ids);
      return decode(ids);
    },
    tokenize: async () => tokens.map((_, place) => place + 1),
  };
  const given = tokens.map((_, place) => ({ id: place + 1, text: decode([place + 1]) }));
  return { model, given, asked, text: decode(given.map(({ id }) => id)) };
}

const cutOf = async (...tokens: (string | readonly number[])[]) => {
  const { model, given, asked, text } = make(tokens);
  const cut = await cutText(model, text, given, signal);
  return { pieces: cut.map(({ from, to, ids }) => `${text.slice(from, to)} ${ids.length}`), cut, asked };
};

it("cutText makes no request if each token consists of whole characters", async () => {
  const { pieces, cut, asked } = await cutOf("Once", " upon", " é");
  expect(pieces).toEqual(["Once 1", " upon 1", " é 1"]);
  expect(cut[2]).toEqual({ ids: [3], first: 2, from: 9, to: 11 });
  expect(asked).toEqual([]);
});

it("cutText joins the tokens of a split character, for two requests", async () => {
  const [f0, f9, d8, f3] = [0xf0, 0x9f, 0x8d, 0x93];
  const own = "\ufffd"; // a character of the text's own
  const { pieces, asked } = await cutOf("a", [0x20, f0, f9], [d8], [f3], [f0, f9, d8], [f3], "!", own, "?");
  expect(pieces).toEqual(["a 1", " 🍓 3", "🍓 2", "! 1", "\ufffd 1", "? 1"]);
  expect(asked.length).toBe(2);
});

it("cutText handles tokens that end one character and begin another", async () => {
  const [a0, a1, b0, b1] = [0xc3, 0xa9, 0xc3, 0xbc]; // é and ü
  const { pieces } = await cutOf([a0], [a1, b0], [b1, a0], [a1, b0], [b1, a0], [a1], "x");
  expect(pieces).toEqual(["éüéüé 6", "x 1"]);
});

it("cutText treats lone surrogates as the model does", async () => {
  const { model, given } = make(["a", "\ufffd", "b"]);
  const cut = await cutText(model, "a\ud83db", given, signal);
  expect(cut.map(({ from, to }) => `${from}-${to}`)).toEqual(["0-1", "1-2", "2-3"]);
});

it.each([end, null])("decodeAll returns the text of each, with %j at the end of texts", async (eos) => {
  const { model } = make(["x", [0xf0, 0x9f], [0x8d], [0x93]], eos);
  const texts = await decodeAll(model, [[1], [2], [2, 3], [2, 3, 4], []], signal);
  expect(texts).toEqual(["x", "\ufffd", "\ufffd", "🍓", ""]);
});

it("decodeAll decodes a text that contains the end-of-text token", async () => {
  const { model } = make(["x", `a${endText}b`]);
  expect(await decodeAll(model, [[1], [2], [1, 1]], signal)).toEqual(["x", `a${endText}b`, "xx"]);
});

it("decodeAll splits a large request into portions", async () => {
  const { model, asked } = make(["x", "y"]);
  const many = Array.from({ length: 30_000 }, (_, place) => [1 + (place % 2)]);
  const texts = await decodeAll(model, many, signal);
  expect(texts.join("")).toBe("xy".repeat(15_000));
  expect(asked.length).toBeGreaterThan(4);
  expect(Math.max(...asked.map(({ length }) => length))).toBeLessThan(11_000);
});

it("tokenizeText returns the tokens of a text that is not scored", async () => {
  const { model, asked, text } = make(["Once", [0xc3], [0xa9]]);
  expect(await tokenizeText(model, "", signal)).toEqual({ ids: [], tokens: [] });
  expect(asked).toEqual([]);
  expect(await tokenizeText(model, text, signal)).toEqual({
    ids: [1, 2, 3],
    tokens: [
      { ids: [1], first: 0, from: 0, to: 4 },
      { ids: [2, 3], first: 1, from: 4, to: 5 },
    ],
  });
});

it("tokenizeText returns a special token in the text as one token", async () => {
  const { model } = make(["Once", "up"]);
  const tokenize = async (_: string, { allowSpecial = false } = {}) => (allowSpecial ? [1, end, 2] : [1, 2]);
  const { ids, tokens } = await tokenizeText({ ...model, tokenize }, `Once${endText}up`, signal);
  expect(ids).toEqual([1, end, 2]);
  expect(tokens[1]).toEqual({ ids: [end], first: 1, from: 4, to: 4 + endText.length });
});
