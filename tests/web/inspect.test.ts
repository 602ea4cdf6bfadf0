// The worker's result of an inspection of the model.
import { expect, it } from "vitest";
import type { ModelConfig } from "../../web/src/shared/types.js";
import { inspect } from "../../web/src/worker/inspect.js";
import { asEngine, FakeEngine } from "./support/fake-engine.js";

const config = { nEmbd: 6, nLayer: 2, nHead: 3, nPositions: 8 } as ModelConfig;
const signal = new AbortController().signal;
const ignore = () => {};
/** The attention of the heads to five tokens, in sixteenths. */
const shares = [1, 2, 4, 4, 5];

function make() {
  const engine = new FakeEngine();
  const asked: unknown[] = [];
  const inside = {
    tokenize: (text: string, { isPrompt = false }) => [
      ...Array.from(text, (_, i) => i + 1),
      ...(isPrompt ? [] : [0]), // a template's token after a text
    ],
    inspect(top: number, size: number) {
      asked.push({ top, size });
      const tokenOf = (index: number, id: number) => ({ index, id, text: `${id}`, logprob: -id, rank: 0 });
      const tokens = [0, 0, 1, 1, 2, 2].map(tokenOf);
      return { tokens, attention: Float32Array.from({ length: size }, (_, i) => (shares[i % 5] ?? 0) / 16) };
    },
  };
  return { engine, asked, look: asEngine(Object.assign(engine, inside)) };
}

it("inspect prefills up to the position, and sorts the values by layers and heads", async () => {
  const { engine, asked, look } = make();
  const whole = await inspect(look, config, { prompt: "abcdefg", position: 4, top: 2 }, signal, ignore);
  expect(engine.requests).toEqual([
    { prompt: [1, 2, 3, 4, 5], options: { maxNewTokens: 0, n: 1, strict: false } },
  ]);
  expect(engine.calls).toEqual(["_gpt2_generate", "_gpt2_prefill_step", "_gpt2_prefill_step"]);
  expect(asked).toEqual([{ top: 2, size: 30 }]);
  expect(whole).toEqual({
    ids: [1, 2, 3, 4, 5],
    layer: 1,
    guesses: [0, 2, 4].map((id) => [id, id + 1].map((i) => ({ id: i, text: `${i}`, logprob: -i }))),
    heads: 3,
    layers: [expect.any(Float32Array), expect.any(Float32Array)],
    attention: whole.layers[1],
    captured: {},
    plainAttention: [],
  });
  expect(whole.layers.map(({ length }) => length)).toEqual([15, 15]);
  for (const each of whole.layers)
    for (const [i, share] of each.entries()) expect(share).toBeCloseTo((shares[i % 5] ?? 0) / 16, 4);
});

it("inspect reads a long text as a generation does, and reports progress", async () => {
  const { engine, look } = make();
  const events: unknown[] = [];
  const prompt = Array.from({ length: 80 }, (_, id) => id);
  const tell = (progress: unknown) => void events.push(progress);
  await inspect(look, { ...config, nPositions: 100 }, { prompt }, signal, tell);
  expect(engine.requests).toEqual([
    { prompt, options: { maxNewTokens: 0, n: 1, strict: false } },
    { prompt: prompt.slice(0, 79), options: { maxNewTokens: 1, temperature: 0, n: 1, strict: false } },
    { prompt, options: { maxNewTokens: 0, n: 1, strict: false } },
  ]);
  const first = ["_gpt2_generate", "_gpt2_generate", "_gpt2_step", "_gpt2_generate", "_gpt2_prefill_step"];
  expect(engine.calls.slice(0, 5)).toEqual(first);
  expect(events[0]).toEqual({ done: 2, total: 80 });
  expect(events.at(-1)).toEqual({ done: 78, total: 80 });
});

it("inspect returns the attention of one head", async () => {
  const { look } = make();
  const request = { prompt: [9, 9, 9, 9, 9], layer: 0, head: 2 };
  const { heads, attention, layer, layers } = await inspect(look, config, request, signal, ignore);
  expect({ heads, layer, sizes: layers.map(({ length }) => length) }).toEqual({
    heads: 1,
    layer: 0,
    sizes: [5, 5],
  });
  expect(attention).toBe(layers[0]);
  expect(attention.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 6);
  expect(attention[4]).toBeCloseTo(5 / 16, 4);
});

it.each([
  [{ prompt: "" }, "the text is empty"],
  [{ prompt: "ab", position: 2 }, "position is 2, expected a whole number from 0 to 1"],
  [{ prompt: "ab", layer: 2 }, "layer is 2, expected a whole number from 0 to 1"],
  [{ prompt: "ab", head: "all" }, 'head is "all", expected a whole number from 0 to 2'],
  [{ prompt: "ab", top: 1.5 }, "top is 1.5, expected a whole number from 0 to 100"],
])("inspect refuses %o", async (request, message) => {
  const { engine, look } = make();
  const inspecting = inspect(look, config, request, signal, ignore);
  await expect(inspecting).rejects.toMatchObject({ code: "invalid-argument", message });
  expect(engine.calls).toEqual([]);
});

it("inspect refuses a position after the context, and accepts one within it in a longer text", async () => {
  const prompt = Array.from({ length: 12 }, (_, id) => id);
  await expect(inspect(make().look, config, { prompt }, signal, ignore)).rejects.toMatchObject({
    code: "capacity",
    message: "the position is outside the context: token 11 of the text, but the context holds 8 tokens",
  });
  const { engine, look } = make();
  await inspect(look, config, { prompt, position: 4 }, signal, ignore);
  expect(engine.requests).toMatchObject([{ prompt: [0, 1, 2, 3, 4] }]);
});

it("inspect describes its captures before it starts, and returns them by their names", async () => {
  const { engine, look } = make();
  const set: number[][] = [];
  const start = engine.start.bind(engine);
  const hooked = Object.assign(look, {
    start: (name: string, text: unknown, options: object, numbers: number[]) => {
      set.push(numbers);
      return start(name, text, options);
    },
    captured: (size: number) => Float32Array.from({ length: size }, (_, i) => i),
  });
  const prompt = Array.from({ length: 80 }, (_, id) => id);
  const request = { prompt, capture: ["embed", "blocks.1.attn.z"], positions: [3] };
  const { captured } = await inspect(hooked, { ...config, nPositions: 100 }, request, signal, ignore);
  expect(captured).toEqual({
    embed: { data: new Float32Array([0, 1, 2, 3, 4, 5]), shape: [1, 6] },
    "blocks.1.attn.z": { data: new Float32Array([6, 7, 8, 9, 10, 11]), shape: [1, 3, 2] },
  });
  expect(set).toHaveLength(1);
  expect(engine.requests).toHaveLength(1); // all tokens run once
});

it("inspect stops between two steps", async () => {
  const { engine, look } = make();
  const controller = new AbortController();
  const looking = inspect(look, config, { prompt: "abcde" }, controller.signal, ignore);
  controller.abort();
  await expect(looking).rejects.toMatchObject({ name: "AbortError" });
  expect(engine.calls).toEqual(["_gpt2_generate"]);
});
