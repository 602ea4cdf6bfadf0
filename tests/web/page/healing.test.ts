// Which tokens of a text only heal its prompt, and which of those without text do not.
import { expect, it } from "vitest";
import { countHealing } from "../../../web/page/share/healing.js";

/** A vocabulary of these bytes; a token's id is its place. */
const vocabulary = [" ", " ti", "me", " time", "\xf0\x9f", "\x8d\x93", ".", "\n"];
const bytesOf = (ids: number[]) =>
  Uint8Array.from(ids.flatMap((id) => [...Buffer.from(vocabulary[id] ?? "", "latin1")]));
const detokenize = (ids: number[]) => Promise.resolve(new TextDecoder().decode(bytesOf(ids)));
const count = (...tokens: [string, string][]) =>
  countHealing(
    tokens.map(([bytes, text]) => ({ id: vocabulary.indexOf(bytes), text })),
    detokenize,
  );

it("counts those that write the prompt's end again", async () => {
  expect(await count([" time", ""], [".", "."])).toBe(1);
  expect(await count([" ti", ""], ["me", ""], [".", "."])).toBe(2);
});

it("does not count one that writes more, nor any where there is nothing to heal", async () => {
  expect(await count([" time", "me"], [".", "."])).toBe(0);
  expect(await count([" ti", ""], ["me", "me"])).toBe(1);
  expect(await count([".", "."])).toBe(0);
  expect(await count()).toBe(0);
});

it("does not count half a character, nor what may begin a stop text", async () => {
  expect(await count(["\xf0\x9f", ""], ["\x8d\x93", "🍓"])).toBe(0);
  expect(await count([" time", ""], ["\xf0\x9f", ""], ["\x8d\x93", "🍓"])).toBe(1);
  expect(await count(["\n", ""], [".", "\n."])).toBe(0);
  expect(await count([" ti", ""], ["\n", ""], [".", "\n."])).toBe(1);
});
