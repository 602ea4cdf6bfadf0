// What is built on captures and changes, with a model that records what is asked of it.
import { expect, it } from "vitest";
import { attribute, embed, heads, neighbours, patchMap, steer } from "../../web/src/client/causes.js";
import type { Captured, Change } from "../../web/src/shared/types.js";

const config = { vocabSize: 10, nPositions: 8, nHead: 2, nLayer: 2, nEmbd: 3 };
const info = { config } as Parameters<typeof heads>[0]["info"];

interface Asked {
  text: unknown;
  capture: readonly string[];
  change: readonly Change[];
  positions: readonly number[] | undefined;
}

/** Each letter of a text is a token. `answer` returns what is captured. */
function make(answer: (asked: Asked) => Record<string, Captured>) {
  const all: Asked[] = [];
  const idsOf = (text: unknown) =>
    typeof text === "string"
      ? Array.from(text, (letter) => letter.charCodeAt(0) - 97)
      : [...(text as number[])];
  const model = {
    info,
    tokenize: async (text: string) => idsOf(text),
    inspect: async (text: unknown, options: Partial<Asked>) => {
      const asked = { text, capture: [], change: [], positions: undefined, ...options };
      all.push(asked);
      return { ids: idsOf(text), captured: answer(asked) };
    },
  };
  return { all, model: model as unknown as Parameters<typeof heads>[0] };
}

it("heads finds a head of each kind in a repeated text", async () => {
  const size = 8; // four tokens, twice
  const pattern = (of: (query: number) => number) =>
    Array.from({ length: size * size }, (_, i) => Number(of(Math.floor(i / size)) === i % size));
  const layer = (one: number[], other: number[]): Captured => ({
    data: Float32Array.from([...one, ...other]),
    shape: [2, size, size],
  });
  const { all, model } = make(() => ({
    first: layer(
      pattern((query) => query - 1),
      pattern(() => 0),
    ),
    second: layer(
      pattern((query) => query - 3),
      pattern((query) => query),
    ),
  }));
  const found = await heads(model, {});
  expect(found.map(({ layer: of, head }) => [of, head])).toEqual([
    [0, 0],
    [0, 1],
    [1, 0],
    [1, 1],
  ]);
  expect(found.map(({ previousToken }) => previousToken)).toEqual([1, 1 / 7, 0, 0]);
  expect(found.map(({ firstToken }) => firstToken)).toEqual([1 / 7, 1, 1 / 7, 0]);
  expect(found.map(({ induction }) => induction)).toEqual([0, 0, 1, 0]);
  const ids = all[0]?.text as number[];
  expect(ids).toHaveLength(size);
  expect(ids.slice(4)).toEqual(ids.slice(0, 4));
  expect(ids.every((id) => id >= 0 && id < config.vocabSize)).toBe(true);
  await heads(model, { seed: 2 });
  await heads(model, {});
  expect(all[1]?.text).not.toEqual(ids);
  expect(all[2]?.text).toEqual(ids);
});

it("patchMap patches each layer at each position, and reports progress", async () => {
  const { all, model } = make(({ text, capture, change: [patch] }) => {
    if (capture[0] !== "logits") {
      const place = { data: new Float32Array(6), shape: [2, 3] };
      return { "blocks.0.mlp_out": place, "blocks.1.mlp_out": place };
    }
    const layer = Number(patch?.at.split(".")[1]);
    const logit = text === "ab" ? 100 : patch ? 10 * layer + Number(patch.position) : -1;
    return { logits: { data: Float32Array.from([0, logit, 2]), shape: [1, 3] } };
  });
  const progress: unknown[] = [];
  const call = { token: 1, against: "c", at: "mlp_out", onProgress: (done: unknown) => progress.push(done) };
  const found = await patchMap(model, "ab", "ac", call);
  expect(found).toEqual({
    map: Float32Array.from([0, 1, 10, 11].map((logit) => logit - 2)),
    layers: 2,
    tokens: 2,
    clean: 98,
    corrupted: -3,
  });
  expect(progress.at(0)).toEqual({ done: 1, total: 4 });
  expect(progress).toHaveLength(4);
  const patches = all.filter(({ change }) => change.length > 0);
  expect(patches.every(({ text, positions }) => text === "ac" && positions?.[0] === 1)).toBe(true);
});

it("embed pools the final states into vectors of length 1", async () => {
  const { model } = make(() => ({
    "ln_final.normalized": { data: Float32Array.from([3, 0, 0, 3, 8, 0]), shape: [2, 3] },
  }));
  const [mean] = await embed(model, ["ab"], {});
  expect(Array.from(mean ?? [])).toEqual([3 / 5, 4 / 5, 0].map(Math.fround));
  const [last] = await embed(model, [[0, 1]], { pooling: "last" });
  expect(last?.[0]).toBeCloseTo(3 / Math.hypot(3, 8), 6);
});

it("steer returns the difference of the means over tokens and texts", async () => {
  const rows: Record<string, number[]> = { a: [1, 2, 3], b: [3, 2, 1], cd: [0, 0, 0, 2, 2, 2] };
  const { all, model } = make(({ text, capture: [at = ""] }) => {
    const data = Float32Array.from(rows[text as string] ?? []);
    return { [at]: { data, shape: [data.length / 3, 3] } };
  });
  const vector = await steer(model, ["a", "b"], ["cd"], "blocks.1.resid_pre", {});
  expect(Array.from(vector)).toEqual([1, 1, 1]);
  expect(all.map(({ capture }) => capture)).toEqual(Array(3).fill(["blocks.1.resid_pre"]));
});

const place = { data: new Float32Array(3), shape: [1, 3] };
const one = make(() => ({ "blocks.0.resid_post": place })).model;
const two = make(() => ({ one: place, two: place })).model;
it.each([
  ["heads", () => heads(one, { seed: -1 }), "seed is -1, expected a whole number from 0 or more"],
  ["embed", () => embed(one, "text", {}), 'texts is "text", expected a list of texts'],
  ["embed", () => embed(one, [], {}), "texts is empty, expected at least one text"],
  ["embed", () => embed(one, ["a"], { pooling: "max" }), 'pooling is "max", expected one of "mean", "last"'],
  [
    "steer",
    () => steer(two, ["a"], ["b"], "blocks.*.embed", {}),
    'at is "blocks.*.embed", expected a place of one layer without heads',
  ],
  ["patchMap", () => patchMap(one, "a", "b", {}), "token is missing"],
  ["attribute", () => attribute(one, "a", { token: "ab" }), 'token is "ab", which has 2 tokens, expected 1'],
  ["neighbours", () => neighbours(one, 10, {}), "token is 10, expected a whole number from 0 to 9"],
  ["neighbours", () => neighbours(one, 1, { top: 0 }), "top is 0, expected a whole number from 1 to 10"],
  [
    "neighbours",
    () => neighbours({ ...one, info: { config: { ...config, nPositions: 2 } } as typeof info }, 1, {}),
    "the context holds 2 tokens, but the weights are read with 3",
  ],
  [
    "patchMap",
    () => patchMap(one, "a", "b", { token: "ab" }),
    'token is "ab", which has 2 tokens, expected 1',
  ],
  [
    "patchMap",
    () => patchMap(one, "a", "bc", { token: 1 }),
    "the texts have 1 and 2 tokens, expected the same number",
  ],
])("%s refuses what it cannot do", async (_name, call, message) => {
  await expect(call()).rejects.toMatchObject({ code: "invalid-argument", message });
});
