// Changes and captures of the forward pass, as the worker describes them to the engine.
import { expect, it } from "vitest";
import type { Captured, ModelConfig } from "../../web/src/shared/types.js";
import { readHooks } from "../../web/src/worker/changes.js";
import { placeNames } from "../../web/src/worker/places.js";
import { allFound, read } from "../repository/files.js";

const config = {
  nEmbd: 8,
  nHead: 2,
  numKeyValueHeads: 2,
  nLayer: 3,
  nInner: 32,
  nPositions: 16,
  vocabSize: 50,
} as ModelConfig;
const tokens = 5;
const neverCaptures = async () => Promise.reject(new Error("nothing is captured"));
const hooksOf = (change: unknown) => readHooks({ change: [change] }, config, tokens, neverCaptures);
const number = (name: (typeof placeNames)[number]) => placeNames.indexOf(name);
/** Nothing is captured. */
const noCapture = [0, 0];

it("the names are in the order of the engine's places", () => {
  const enumeration = /enum class Place[^{]*\{([^}]*)\}/.exec(read("engine/model/hooks.h"))?.[1] ?? "";
  const places = allFound(enumeration, /^\s*(k\w+),/gm);
  const inTest = /kPlaces\[\] = \{(.*?)\};/s.exec(read("tests/generate/changes_test.cc"))?.[1] ?? "";
  expect(allFound(inTest, /Place::(\w+)/g)).toEqual(places);
  expect(allFound(inTest, /"([^"]+)"/g)).toEqual(placeNames);
});

it.each([
  [{ at: "blocks.1.attn.z", head: 1, set: 0 }, [number("attn.z"), 1, 1, -1, 0, 1, 0, 1, 0]],
  [{ at: "blocks.1.attn.hook_z", set: 0 }, [number("attn.z"), 1, -1, -1, 0, 1, 0, 1, 0]],
  [{ at: "blocks.0.mlp.post", neuron: 7, scale: 3 }, [number("mlp.post"), 0, -1, 7, 1, 3, 0, 0]],
  [
    { at: "hook_embed", position: [2, 0], add: [1, 2, 3, 4, 5, 6, 7, 8], weight: 4 },
    [number("embed"), 0, -1, -1, 2, 4, 2, 2, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8],
  ],
  [
    { at: "blocks.2.attn.hook_attn_scores", head: 0, query: 4, key: 2, set: -Infinity },
    [number("attn.scores"), 2, 0, 2, 0, 1, 1, 4, 1, -Infinity],
  ],
  [
    { at: "blocks.0.attn.k", head: 0, neuron: 3, set: new Float32Array([0.5]) },
    [number("attn.k"), 0, 0, 3, 0, 1, 0, 1, 0.5],
  ],
])("describes %o", async (change, numbers) => {
  expect((await hooksOf(change))?.numbers).toEqual([1, ...numbers, ...noCapture]);
});

it("a star stands for every layer", async () => {
  const hooks = await hooksOf({ at: "blocks.*.attn.pattern", head: 0, set: 0 });
  const one = (layer: number) => [number("attn.pattern"), layer, 0, -1, 0, 1, 0, 1, 0];
  expect(hooks?.numbers).toEqual([3, ...one(0), ...one(1), ...one(2), ...noCapture]);
  expect(hooks?.plainAttention).toEqual([0, 1, 2]);
});

it("captures have the shapes of their places", async () => {
  const capture = ["blocks.*.resid_post", "blocks.1.attn.pattern", "blocks.1.attn.hook_q", "logits"];
  const all = await readHooks({ capture }, config, tokens, neverCaptures);
  expect(all?.captures).toEqual([
    { name: "blocks.0.resid_post", shape: [5, 8] },
    { name: "blocks.1.resid_post", shape: [5, 8] },
    { name: "blocks.2.resid_post", shape: [5, 8] },
    { name: "blocks.1.attn.pattern", shape: [2, 5, 5] },
    { name: "blocks.1.attn.q", shape: [5, 2, 4] },
    { name: "logits", shape: [5, 50] },
  ]);
  const some = await readHooks({ capture, positions: [4, 1] }, config, tokens, neverCaptures);
  expect(some?.captures.map(({ shape }) => shape).slice(2)).toEqual([
    [2, 8],
    [2, 2, 5],
    [2, 2, 4],
    [2, 50],
  ]);
  expect(some?.numbers.slice(-3)).toEqual([2, 4, 1]);
});

/** Rows of 8 numbers: row 0 has 0 to 7, row 1 has 10 to 17, and so on. */
const rows = (count: number, ...rest: number[]): Captured => ({
  data: Float32Array.from({ length: 8 * count }, (_, i) => Math.floor(i / 8) * 10 + (i % 8)),
  shape: [count, ...(rest.length > 0 ? rest : [8])],
});
const valuesOf = async (change: unknown) => (await hooksOf(change))?.numbers.slice(7, -2);

it("values come from another text's capture, at the same positions", async () => {
  const from = rows(3);
  expect(await valuesOf({ at: "embed", position: 1, from })).toEqual([
    1, 1, 8, 10, 11, 12, 13, 14, 15, 16, 17,
  ]);
  expect(await valuesOf({ at: "embed", position: [2, 0], neuron: 3, from })).toEqual([2, 2, 0, 2, 23, 3]);
  const z = { at: "blocks.0.attn.z", head: 1, from: rows(2, 2, 4) };
  expect(await valuesOf(z)).toEqual([2, 0, 1, 8, 4, 5, 6, 7, 14, 15, 16, 17]);
});

it("the mean is that of a pass without changes", async () => {
  const asked: string[][] = [];
  const hooks = await readHooks(
    { change: [{ at: "blocks.*.attn.z", head: 1, set: "mean" }] },
    config,
    2,
    async (hooksFor) => {
      const { captures, numbers } = hooksFor(2);
      asked.push(captures.map(({ name }) => name));
      expect(numbers[0]).toBe(0); // no changes
      return Object.fromEntries(captures.map(({ name }) => [name, rows(2, 2, 4)]));
    },
  );
  expect(asked).toEqual([["blocks.0.attn.z", "blocks.1.attn.z", "blocks.2.attn.z"]]);
  expect(hooks?.numbers.slice(0, 13)).toEqual([3, number("attn.z"), 0, 1, -1, 0, 1, 0, 4, 9, 10, 11, 12]);
});

it.each([
  [
    { at: "blocks.1.attn.zz", set: 0 },
    '.at is "blocks.1.attn.zz", which is no place of the forward pass: did you mean "blocks.1.attn.z"?',
  ],
  [
    { at: "resid_post", set: 0 },
    '.at is "resid_post", which is no place of the forward pass: did you mean "blocks.*.resid_post"?',
  ],
  [
    { at: "blocks.3.mlp.pre", set: 0 },
    '.at is "blocks.3.mlp.pre", expected a layer from 0 to 2, or * for all layers',
  ],
  [{ set: 0 }, ".at is undefined, expected the name of a place"],
  [{ at: "embed" }, " has none of set, scale, add and from, expected one"],
  [{ at: "embed", set: 0, scale: 1 }, " has set and scale of set, scale, add and from, expected one"],
  [
    { at: "embed", heads: 1, set: 0 },
    ".heads is no member of a change, expected one of at, head, neuron, position, query, key, set, scale, add, weight, from",
  ],
  [{ at: "embed", head: 0, set: 0 }, " has head, which does not apply to embed"],
  [{ at: "embed", key: 0, set: 0 }, " has key, which does not apply to embed"],
  [
    { at: "blocks.0.attn.scores", position: 0, set: 0 },
    " has position, which does not apply to blocks.0.attn.scores",
  ],
  [{ at: "blocks.0.attn.z", head: 2, set: 0 }, ".head is 2, expected a whole number from 0 to 1"],
  [{ at: "blocks.0.attn.z", neuron: 0, set: 0 }, ".neuron needs a head at this place"],
  [{ at: "embed", position: 16, set: 0 }, ".position[0] is 16, expected a whole number from 0 to 15"],
  [{ at: "embed", set: [1, 2] }, " has 2 values, expected 1 or 8"],
  [{ at: "embed", set: [] }, " has 0 values, expected 1 or 8"],
  [{ at: "embed", set: NaN }, " has a value that is not a finite number"],
  [{ at: "embed", set: -Infinity }, " has a value that is not a finite number"],
  [{ at: "embed", set: 1e39 }, " has a value that is not a finite number"],
  [{ at: "embed", scale: NaN }, ".scale is NaN, expected a finite number"],
  [{ at: "embed", set: 0, weight: 2 }, " has weight, which does not apply to set"],
  [{ at: "embed", set: 0, position: [] }, ".position is empty, expected at least one"],
  [{ at: "embed", set: 0, position: [3, 3] }, ".position has 3 twice"],
  [{ at: "blocks.0.attn.scores", query: [1, 2], set: [0, 1] }, " has 2 values, expected 1"],
  [{ at: "blocks.0.attn.scores", add: -Infinity }, " has a value that is not a finite number"],
  [
    { at: "blocks.0.attn.pattern", from: rows(2) },
    " has from, which does not apply to blocks.0.attn.pattern",
  ],
  [{ at: "embed", set: "zero" }, '.set is "zero", expected a number or a list of numbers'],
  [{ at: "blocks.0.attn.scores", set: "mean" }, '.set is "mean", expected a number or a list of numbers'],
  [
    { at: "embed", from: { data: new Float32Array(3), shape: [1, 3] } },
    ".from is an object, expected what was captured at such a place",
  ],
  [{ at: "embed", position: 3, from: rows(2) }, ".from has 2 positions, but position is 3"],
])("refuses %o", async (change, message) => {
  await expect(hooksOf(change)).rejects.toMatchObject({
    code: "invalid-argument",
    message: `change[0]${message}`,
  });
});

it("refuses captures that the text lacks", async () => {
  const refusal = (request: object) =>
    readHooks(request, config, tokens, neverCaptures).then(undefined, ({ message }: Error) => message);
  expect(await refusal({ positions: [0] })).toBe("positions needs capture");
  expect(await refusal({ capture: ["embed"], positions: [5] })).toBe(
    "positions[0] is 5, expected a whole number from 0 to 4",
  );
  expect(await refusal({ capture: ["logit"] })).toBe(
    'capture[0] is "logit", which is no place of the forward pass: did you mean "logits"?',
  );
  expect(await readHooks({}, config, tokens, neverCaptures)).toBeUndefined();
  expect(await readHooks({ change: [] }, config, tokens, neverCaptures)).toBeUndefined();
});
