// The events of one generation in the worker, and its summary.
import { beforeEach, expect, it, vi } from "vitest";
import type { Token } from "../../web/src/shared/types.js";
import { generate } from "../../web/src/worker/generate.js";
import { ReadAhead } from "../../web/src/worker/read-ahead.js";
import { asEngine, FakeEngine } from "./support/fake-engine.js";

const request = { prompt: "p", options: { maxNewTokens: 2, seed: 1 }, ahead: Infinity };
const around = (events: unknown[] = []) => ({
  signal: new AbortController().signal,
  tell: (event: unknown) => void events.push(event),
  readAhead: new ReadAhead(Infinity),
  pause: async (ready: Promise<void>) => ready,
});

/** Runs a generation of so many tokens on `engine`. */
const write = (maxNewTokens: number, engine = new FakeEngine(), surroundings = around()) =>
  generate(asEngine(engine), { ...request, options: { maxNewTokens } }, surroundings);

/** Makes each step of `engine` take so many milliseconds. */
function lasting(ms: number, engine = new FakeEngine()): FakeEngine {
  const step = engine.step.bind(engine);
  engine.step = (name) => (vi.advanceTimersByTime(ms), step(name));
  return engine;
}
const idsOf = (events: { tokens: Token[] }[]) => events.map(({ tokens }) => tokens.map(({ id }) => id));

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));

it("generate draws a seed if none is given, and reports it", async () => {
  const engine = new FakeEngine();
  const { seed } = await write(1, engine);
  expect(Number.isInteger(seed)).toBe(true);
  expect(engine.requests[0]).toEqual({ prompt: "p", options: { maxNewTokens: 1, seed } });
  expect((await write(1)).seed).not.toBe(seed);
});

it("generate reports the progress of the prompt until the first token", async () => {
  const engine = new FakeEngine();
  const token = (id: number) => ({ index: 0, id, text: "", logprob: -1, rank: 1 });
  const steps = [
    { done: 2, total: 5, isDone: false, tokens: [] },
    { done: 5, total: 5, isDone: false, tokens: [token(9)] },
    { done: 1, total: 5, isDone: false, tokens: [] }, // prefills its context again
    { done: 5, total: 5, isDone: true, tokens: [token(8), token(7)] },
  ];
  engine.step = () => steps.shift() ?? engine.output();
  const drafted = { draftedTokens: 6, acceptedTokens: 4 };
  engine.call = () => ({ finishReasons: ["eos", "stop"], droppedTokens: 3, ...drafted });
  const events: unknown[] = [];
  const summary = await generate(asEngine(lasting(5, engine)), request, around(events));
  expect(events).toEqual([
    { prompt: { done: 2, total: 5 } },
    { tokens: [token(9)] },
    { tokens: [token(8), token(7)] },
  ]);
  expect(summary).toMatchObject({
    finishReason: "eos",
    finishReasons: ["eos", "stop"],
    seed: 1,
    promptTokens: 5,
    reusedTokens: 2,
    healedTokens: 0,
    droppedTokens: 3,
    timings: {
      ...drafted,
      firstTokenMs: 10,
      totalMs: 20,
      promptTokens: 3,
      promptTokensPerSecond: 300,
      decodedTokens: 2,
      decodedTokensPerSecond: 200,
    },
  });
});

it("generate sends the first token at once, and later tokens in batches of four milliseconds", async () => {
  const events: { tokens: Token[] }[] = [];
  await write(12, lasting(1), around(events));
  expect(idsOf(events)).toEqual([[0], [1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]);
});

it("generate sends what was written before a step fails", async () => {
  const engine = new FakeEngine();
  const step = engine.step.bind(engine);
  const events: { tokens: Token[] }[] = [];
  engine.step = (name) => {
    if (engine.steps === 3) throw new Error("broken");
    return step(name);
  };
  await expect(write(9, engine, around(events))).rejects.toThrow("broken");
  expect(idsOf(events)).toEqual([[0], [1, 2]]);
});

it("the measured time excludes waiting for the reader", async () => {
  const engine = new FakeEngine();
  const pause = () => Promise.resolve(void vi.advanceTimersByTime(300));
  const paused = { ...around(), readAhead: new ReadAhead(1), pause };
  const { timings } = await write(2, engine, paused);
  expect(timings.totalMs).toBe(0);
  const steps = ["_gpt2_step", "_gpt2_suspend", "resume", "_gpt2_step"]; // it does not pause after its last token
  expect(engine.calls).toEqual(["_gpt2_generate", ...steps, "_gpt2_summary"]);
});

it("generate writes no text if no tokens are requested", async () => {
  const engine = new FakeEngine();
  const { timings, finishReason } = await write(0, engine);
  expect(engine.steps).toBe(0);
  expect(finishReason).toBe("length");
  expect(timings).toMatchObject({ decodedTokens: 0, decodedTokensPerSecond: 0 });
});
