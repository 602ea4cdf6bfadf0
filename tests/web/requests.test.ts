// Page and worker together, with an engine that only counts.
import { describe, expect, it, vi } from "vitest";
import { Connection } from "../../web/src/client/connection.js";
import { loadThrough } from "../../web/src/client/load-model.js";
import type { GenerateCall } from "../../web/src/client/model.js";
import { pause, loadFake, ServerPort } from "./support/in-process.js";

// Node handles a thousand messages in a row before anything else; a browser takes turns.
vi.mock("../../web/src/worker/yield-to-messages.js", () => ({
  yieldToMessages: () => new Promise((resolve) => setImmediate(resolve)),
}));

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

describe("generate", () => {
  it("generate yields every token in order, then the summary", async () => {
    const { model } = await loadFake();
    const ids: number[] = [];
    let summary: unknown;
    const stream = model.generate("p", {
      maxNewTokens: 1000,
      seed: 7,
      onSummary: (value) => (summary = value),
    });
    for await (const token of stream) ids.push(token.id);
    expect(ids).toEqual(numbers(1000));
    expect(summary).toMatchObject({ finishReason: "length", seed: 7, promptTokens: 5, reusedTokens: 2 });
  });

  it("complete returns the same tokens at once", async () => {
    const { model } = await loadFake();
    let summary: unknown;
    const completion = await model.complete("p", {
      maxNewTokens: 600,
      onSummary: (value) => (summary = value),
    });
    expect(completion.tokens.map(({ id }) => id)).toEqual(numbers(600));
    expect(completion.text).toBe(
      numbers(600)
        .map((id) => `${id} `)
        .join(""),
    );
    expect(completion.continuations).toEqual([
      { text: completion.text, tokens: completion.tokens, finishReason: "length", seed: completion.seed },
    ]);
    expect(summary).toMatchObject({ finishReason: "length", seed: completion.seed });
  });

  it("generate starts with the first pull, and not before", async () => {
    const { model, engine } = await loadFake();
    const stream = model.generate("p");
    await pause();
    expect(engine.steps).toBe(0);
    await stream.next();
    expect(engine.steps).toBeGreaterThan(0);
    await stream.return(undefined as never);
  });

  it("leaving the loop stops the model", async () => {
    const { model, engine, port } = await loadFake();
    for await (const token of model.generate("p", { maxNewTokens: 1e9 })) if (token.id === 10) break;
    await vi.waitFor(() =>
      expect(port.said).toContainEqual(expect.objectContaining({ type: "failed", id: 2 })),
    );
    const { steps } = engine;
    expect(steps).toBeLessThan(1000);
    await pause();
    expect(engine.steps).toBe(steps);
    expect(port.sent.at(-1)).toEqual({ type: "cancel", id: 2 });
    expect(engine.suspended).toBe(0);
    expect((await model.complete("p", { maxNewTokens: 3 })).tokens.length).toBe(3);
  });

  it("a generation that ended by itself sends no cancellation", async () => {
    const { model, port } = await loadFake();
    for await (const _ of model.generate("p", { maxNewTokens: 3 }));
    expect(port.sent.map(({ type }) => type)).not.toContain("cancel");
  });
});

describe("a reader that stops reading", () => {
  it("generation pauses a few hundred tokens ahead of its reader, and other requests run first", async () => {
    const { model, engine } = await loadFake();
    const stream = model.generate("p", { maxNewTokens: 2000 });
    const ids = [(await stream.next()).value];
    await vi.waitFor(() => expect(engine.suspended).toBe(1));
    expect(engine.steps).toBe(256);
    const other = await model.complete("q", { maxNewTokens: 500 });
    expect(other.tokens.length).toBe(500);
    expect(await model.detokenize([1])).toBe("text of [1]");
    for await (const token of stream) ids.push(token);
    expect(ids.map((token) => (token as { id: number }).id)).toEqual(numbers(2000));
    expect(engine.suspended).toBe(0);
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

  it("several readers may pause at the same time", async () => {
    const { model, engine } = await loadFake();
    const streams = numbers(4).map(() => model.generate("p", { maxNewTokens: 700 }));
    for (const stream of streams) await stream.next();
    await vi.waitFor(() => expect(engine.suspended).toBe(4));
    const rest = await Promise.all(
      streams.map(async (stream) => {
        const ids = [];
        for await (const { id } of stream) ids.push(id);
        return ids;
      }),
    );
    for (const ids of rest) expect(ids).toEqual(numbers(700).slice(1));
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
});

describe("an abort", () => {
  it("after an abort no further token is delivered, even if hundreds have arrived", async () => {
    const { model } = await loadFake();
    const controller = new AbortController();
    const seen: number[] = [];
    const loop = async () => {
      for await (const token of model.generate("p", { maxNewTokens: 1e9, signal: controller.signal })) {
        seen.push(token.id);
        if (token.id === 5) {
          await pause();
          controller.abort(new Error("enough"));
        }
      }
    };
    await expect(loop()).rejects.toThrow("enough");
    expect(seen).toEqual(numbers(6));
  });

  it("an abort rejects a waiting request at once", async () => {
    const { model } = await loadFake();
    const controller = new AbortController();
    const running = model
      .complete("p", { maxNewTokens: 200_000, signal: controller.signal })
      .catch(() => "over");
    const waiting = new AbortController();
    const calls = [
      model.complete("p", { signal: waiting.signal }),
      model.tokenize("p", { signal: waiting.signal }),
      model.detokenize([1], { signal: waiting.signal }),
      model.score("p", { signal: waiting.signal }),
      model.generate("p", { signal: waiting.signal }).next(),
    ];
    const caught = calls.map((call) => call.catch((error: Error) => error.message));
    waiting.abort(new Error("enough"));
    let isOver = false;
    void running.then(() => (isOver = true));
    expect(await Promise.all(caught)).toEqual(calls.map(() => "enough"));
    expect(isOver).toBe(false);
    const next = model.detokenize([2]); // requested before the running one ends
    controller.abort();
    expect(await running).toBe("over");
    expect(await next).toBe("text of [2]");
  });

  it("aborting a load ends its worker", async () => {
    const port = new ServerPort(() => new Promise(() => {}));
    const controller = new AbortController();
    const loading = loadThrough(() => new Connection(port, "w"), "http://host/m", {
      signal: controller.signal,
    });
    await pause();
    controller.abort(new Error("enough"));
    await expect(loading).rejects.toThrow("enough");
    await pause();
    expect(port.isTerminated).toBe(true);
  });

  it("a load that is aborted before it begins starts no worker", async () => {
    const start = () => {
      throw new Error("started");
    };
    const loading = loadThrough(start, "http://host/m", { signal: AbortSignal.abort(new Error("enough")) });
    await expect(loading).rejects.toThrow("enough");
  });
});

describe("an engine with an error", () => {
  it("an engine's error arrives after the tokens before it", async () => {
    const { model, engine } = await loadFake();
    const seen: number[] = [];
    const loop = async (call: GenerateCall) => {
      for await (const token of model.generate("p", call)) {
        if (seen.push(token.id) === 1)
          engine.trouble = Object.assign(new RangeError("Array buffer allocation failed"));
      }
    };
    await expect(loop({ maxNewTokens: 1e6 })).rejects.toMatchObject({ code: "out-of-memory" });
    expect(seen).toEqual(numbers(seen.length));
    expect(seen.length).toBe(engine.steps - 1);
    expect((await model.complete("p", { maxNewTokens: 2 })).tokens.length).toBe(2);
  });

  it("an engine that traps ends all requests", async () => {
    const { model, engine, port } = await loadFake();
    engine.trouble = Object.assign(new Error("unreachable"), { name: "RuntimeError" });
    const other = model.tokenize("p").catch((error: { code: string }) => error.code);
    const failed = model.complete("p");
    const waiting = model.detokenize([1]);
    await expect(failed).rejects.toMatchObject({ code: "worker-died", name: "WorkerError" });
    await expect(waiting).rejects.toMatchObject({ code: "worker-died" });
    expect(await other).toEqual([112]);
    expect(port.isTerminated).toBe(true);
    await expect(model.tokenize("p")).rejects.toMatchObject({
      message: expect.stringContaining("loaded again"),
    });
  });
});

describe("dispose", () => {
  it("dispose ends engine and worker, whatever request is running", async () => {
    const { model, engine, port } = await loadFake();
    engine.stepMs = 0.5;
    const calls = [model.complete("p", { maxNewTokens: 1e9 }), model.tokenize("p")];
    const stream = model.generate("p");
    const caught = [...calls, stream.next()].map((call) =>
      call.catch((error: { code: string }) => error.code),
    );
    await pause();
    await model.dispose();
    expect(await Promise.all(caught)).toEqual(["disposed", "disposed", "disposed"]);
    expect(engine.isDestroyed).toBe(true);
    expect(port.isTerminated).toBe(true);
    expect(port.said).toContainEqual({ type: "ended" });
    await model.dispose();
    await expect(model.tokenize("p")).rejects.toMatchObject({ code: "disposed" });
    await pause();
    expect(engine.calls.filter((name) => name === "detokenize")).toEqual([]);
  });

  it("dispose ends a generation that waits for its reader", async () => {
    const { model, engine } = await loadFake();
    const stream = model.generate("p", { maxNewTokens: 2000 });
    await stream.next();
    await pause();
    await model.dispose();
    await expect(
      (async () => {
        for await (const _ of stream);
      })(),
    ).rejects.toMatchObject({ code: "disposed" });
    expect(engine.isDestroyed).toBe(true);
  });
});

describe("helper threads that are lost", () => {
  it("lost helper threads change the model's info, and nothing else", async () => {
    const { model, port } = await loadFake();
    expect(model.info.threads).toBe(4);
    port.server.loseThread();
    await pause();
    expect(model.info.threads).toBe(3);
    expect(model.info.notice).toContain("3 of 4 threads");
    for (let i = 0; i < 5; ++i) port.server.loseThread();
    await pause();
    expect(model.info.threads).toBe(1);
    expect(model.info.notice).toContain("1 of 4 threads");
    expect(await model.detokenize([1])).toBe("text of [1]");
  });
});
