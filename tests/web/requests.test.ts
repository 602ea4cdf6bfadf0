// Page and worker together, with an engine that only counts.
import { expect, it, vi } from "vitest";
import { loadThrough } from "../../web/src/client/load-model.js";
import { loadFake } from "./support/in-process.js";

// Node handles a thousand messages in a row before anything else; a browser takes turns.
vi.mock("../../web/src/worker/yield-to-messages.js", () => ({
  yieldToMessages: () => new Promise((resolve) => setImmediate(resolve)),
}));

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

it("leaving the loop stops the model", async () => {
  const { model, engine, port } = await loadFake();
  for await (const token of model.generate("p", { maxNewTokens: 1e9 })) if (token.id === 10) break;
  await vi.waitFor(() =>
    expect(port.said).toContainEqual(expect.objectContaining({ type: "failed", id: 2 })),
  );
  const { steps } = engine;
  expect(steps).toBeLessThan(1000);
  for (let turns = 0; turns < 10; ++turns) await new Promise((resolve) => setImmediate(resolve));
  expect(engine.steps).toBe(steps);
  expect(port.sent.at(-1)).toEqual({ type: "cancel", id: 2 });
  expect(engine.suspended).toBe(0);
  for await (const _ of model.generate("p", { maxNewTokens: 3 }));
  expect(port.sent.filter(({ type }) => type === "cancel")).toHaveLength(1); // not of one that ended by itself
});

it("a paused generation continues as soon as a batch is read", async () => {
  const { model, engine, port } = await loadFake();
  const stream = model.generate("p", { maxNewTokens: 2000 });
  for (let i = 0; i < 63; ++i) await stream.next();
  await vi.waitFor(() => expect(engine.suspended).toBe(1));
  expect(engine.steps).toBe(256);
  await stream.next();
  await vi.waitFor(() => expect(engine.calls).toContain("resume"));
  await vi.waitFor(() => expect(engine.suspended).toBe(1));
  expect(engine.steps).toBe(256 + 64);
  expect(port.sent.filter(({ type }) => type === "read")).toEqual([{ type: "read", id: 2, tokens: 64 }]);
  await stream.return(undefined as never);
});

it("several generations pause 256 tokens ahead of their readers, while other requests run", async () => {
  const { model, engine } = await loadFake();
  const streams = numbers(4).map(() => model.generate("p", { maxNewTokens: 700 }));
  for (const stream of streams) await stream.next();
  await vi.waitFor(() => expect(engine.suspended).toBe(4));
  expect(engine.steps).toBe(4 * 256);
  expect((await model.complete("q", { maxNewTokens: 500 })).tokens.length).toBe(500);
  expect(await model.detokenize([1])).toBe("text of [1]");
  const rest = await Promise.all(
    streams.map(async (stream) => {
      const ids = [];
      for await (const { id } of stream) ids.push(id);
      return ids;
    }),
  );
  for (const ids of rest) expect(ids).toEqual(numbers(700).slice(1));
  expect(engine.suspended).toBe(0);
});

it("a paused reader is removed when it is aborted", async () => {
  const { model, engine } = await loadFake();
  const controller = new AbortController();
  const stream = model.generate("p", { maxNewTokens: 2000, signal: controller.signal });
  await stream.next();
  await vi.waitFor(() => expect(engine.suspended).toBe(1));
  controller.abort(new Error("enough"));
  await vi.waitFor(() => expect(engine.suspended).toBe(0));
  expect(engine.calls.at(-1)).toBe("discard");
  await expect(stream.next()).rejects.toThrow("enough");
  expect((await stream.next()).done).toBe(true);
  expect(await model.detokenize([1])).toBe("text of [1]");
});

it("dispose ends engine and worker, whatever request is running or waits for its reader", async () => {
  const { model, engine, port } = await loadFake();
  const paused = model.generate("p", { maxNewTokens: 2000 });
  await paused.next();
  await vi.waitFor(() => expect(engine.suspended).toBe(1));
  const calls = [model.complete("p", { maxNewTokens: 1e9 }), model.tokenize("p"), model.generate("p").next()];
  const readAll = async () => {
    for await (const _ of paused);
  };
  const caught = [...calls, readAll()].map((call) => call.catch((error: { code: string }) => error.code));
  await vi.waitFor(() => expect(engine.steps).toBeGreaterThan(256));
  await model.dispose();
  expect(await Promise.all(caught)).toEqual(Array(4).fill("disposed"));
  expect([engine.isDestroyed, port.isTerminated]).toEqual([true, true]);
  expect(port.said).toContainEqual({ type: "ended" });
  await model.dispose();
  await expect(model.tokenize("p")).rejects.toMatchObject({ code: "disposed" });
  await new Promise((resolve) => setImmediate(resolve));
  expect(engine.calls).not.toContain("tokenize");
});

it("a load that is aborted before it begins starts no worker", async () => {
  const start = vi.fn();
  const loading = loadThrough(start, "http://host/m", { signal: AbortSignal.abort(new Error("enough")) });
  await expect(loading).rejects.toThrow("enough");
  expect(start).not.toHaveBeenCalled();
});
