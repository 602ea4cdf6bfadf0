// The worker's side alone: its answers to messages, and the events of a generation.
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { FromWorker, RequestName } from "../../web/src/shared/protocol.js";
import type { GenerateSummary, Token } from "../../web/src/shared/types.js";
import { generate } from "../../web/src/worker/generate.js";
import { ReadAhead } from "../../web/src/worker/read-ahead.js";
import { Server } from "../../web/src/worker/server.js";
import { speedToRemember } from "../../web/src/worker/thread-speed.js";
import { asEngine, FakeEngine, loadsAtOnce } from "./support/fake-engine.js";

const loadRequest = {
  source: { kind: "folder", url: "http://host/m/" },
  threadChoices: {},
  prompt: "",
  cache: false,
  headers: [],
};

function serve(engine = new FakeEngine(), load = loadsAtOnce(engine)) {
  const sent: FromWorker[] = [];
  const server = new Server(load, (message) => sent.push(message));
  let id = 0;
  const ask = (name: RequestName, args: unknown) => {
    server.receive({ type: "request", id: ++id, name, args: name === "load" ? loadRequest : args });
    return id;
  };
  const answer = async (to: number) => {
    await vi.waitFor(() =>
      expect(
        sent.some((message) =>
          "result" in message ? message.id === to : message.type === "failed" && message.id === to,
        ),
      ).toBe(true),
    );
    return sent.find(
      (message) => (message.type === "done" || message.type === "failed") && message.id === to,
    );
  };
  return { engine, server, sent, ask, answer };
}
const request = { prompt: "p", options: { maxNewTokens: 2, seed: 1 }, ahead: Infinity };

describe("the best thread count", () => {
  const infos = (sent: FromWorker[]) => sent.filter(({ type }) => type === "info");
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  const idle = () => vi.advanceTimersByTimeAsync(500);

  it("thread counts are measured once after a text while the model is idle, and reported", async () => {
    const engine = new FakeEngine();
    const { ask, answer, sent, server } = serve(engine, loadsAtOnce(engine, { measureAs: "k" }));
    await answer(ask("load", {}));
    await answer(ask("tokenize", { text: "ab", allowSpecial: false }));
    await idle();
    expect(engine.measurements).toBe(0); // a measurement would delay the first token
    const slow = ask("generate", { ...request, ahead: 0 });
    await answer(ask("generate", request));
    await idle();
    expect(engine.measurements).toBe(0); // one generation is paused until its reader continues
    server.receive({ type: "read", id: slow, tokens: 100 });
    await answer(slow);
    await idle();
    expect(infos(sent)).toEqual([
      { type: "info", info: { threads: 2, notice: null }, threadChoice: { key: "k", threads: 2 } },
    ]);
    expect(engine.measurements).toBe(3);
    await answer(ask("generate", request));
    await idle();
    expect(engine.measurements).toBe(3);
  });

  it.each([
    ["is reported but not stored if threads are missing", { measureAs: undefined }, false, 1],
    ["is not measured if it is known", undefined, false, 0],
    ["is not measured after the end of the worker", { measureAs: "k" }, true, 0],
  ])("the best thread count %s", async (_, measure, ends, reports) => {
    const engine = new FakeEngine();
    const { ask, answer, server, sent } = serve(engine, loadsAtOnce(engine, measure));
    await answer(ask("load", {}));
    await answer(ask("generate", request));
    if (ends) server.receive({ type: "end" });
    await idle(); // an unhandled rejection would fail the run, too
    expect(infos(sent)).toEqual(Array(reports).fill({ type: "info", info: { threads: 2, notice: null } }));
  });
});

describe("the speed of a known thread count", () => {
  const summaryOf = (tokensPerSecond: number, { steps = 40, n = 1, accepted = 0 } = {}) =>
    ({
      finishReasons: Array(n).fill("length"),
      timings: {
        decodedTokens: steps + accepted,
        acceptedTokens: accepted,
        decodedTokensPerSecond: (tokensPerSecond * (steps + accepted)) / steps,
      },
    }) as unknown as GenerateSummary;
  const known = { key: "k", threads: 2 };

  it("the speed is stored as bytes of weights per second", () => {
    expect(speedToRemember(known, summaryOf(50), 1000)).toEqual({ ...known, speed: 50_000 });
    expect(speedToRemember(known, summaryOf(50, { accepted: 20 }), 1000)).toEqual({
      ...known,
      speed: 50_000,
    });
    expect(speedToRemember(known, summaryOf(50, { steps: 31 }), 1000)).toBeUndefined();
    expect(speedToRemember(known, summaryOf(50, { n: 2 }), 1000)).toBeUndefined();
  });

  it("a speed that differs much from the stored one causes a new measurement", () => {
    const before = { ...known, speed: 50_000 };
    for (const tokensPerSecond of [21, 50, 124])
      expect(speedToRemember(before, summaryOf(tokensPerSecond), 1000)).toBeUndefined();
    for (const tokensPerSecond of [0, 1, 19, 126, 5000])
      expect(speedToRemember(before, summaryOf(tokensPerSecond), 1000)).toEqual({ key: "k", threads: 0 });
  });

  it("the speed is reported once, after a text", async () => {
    const choices = (sent: FromWorker[]) =>
      sent.flatMap((message) => (message.type === "info" ? [message.threadChoice] : []));
    const long = { ...request, options: { maxNewTokens: 40, seed: 1 } };
    const first = serve(undefined, loadsAtOnce(new FakeEngine(), undefined, known));
    await first.answer(first.ask("load", {}));
    for (const each of [request, long, long]) await first.answer(first.ask("generate", each));
    expect(choices(first.sent)).toEqual([{ ...known, speed: expect.any(Number) }]);
    const far = serve(undefined, loadsAtOnce(new FakeEngine(), undefined, { ...known, speed: 1 }));
    await far.answer(far.ask("load", {}));
    for (const each of [long, long]) await far.answer(far.ask("generate", each));
    expect(choices(far.sent)).toEqual([{ key: "k", threads: 0 }]);
  });
});

describe("Server", () => {
  it("the server refuses all requests before a model is loaded, and after a failed load", async () => {
    const engine = new FakeEngine();
    const { ask, answer } = serve(engine, async (_, { onEngine }) => {
      onEngine(asEngine(engine));
      throw new Error("odd");
    });
    const text = { prompt: "p", text: "p", allowSpecial: false };
    const error = { code: "invalid-argument", message: "no model is loaded" };
    for (const name of ["generate", "prefill", "inspect", "score", "tokenize", "detokenize"] as const) {
      const args = { generate: request, detokenize: [1] }[name as string] ?? text;
      expect(await answer(ask(name, args)), name).toMatchObject({ type: "failed", error });
    }
    expect(await answer(ask("load", {}))).toMatchObject({
      error: { code: "worker-died", message: expect.stringContaining("odd") },
    });
    expect(await answer(ask("tokenize", text))).toMatchObject({ error });
  });

  it("the server loads only one model", async () => {
    const { ask, answer } = serve();
    expect(await answer(ask("load", {}))).toMatchObject({ type: "done", result: { info: { threads: 4 } } });
    expect(await answer(ask("load", {}))).toMatchObject({
      error: { code: "invalid-argument", message: "this worker already has a model" },
    });
  });

  it("the server answers each kind of request", async () => {
    const { engine, ask, answer, sent } = serve();
    await answer(ask("load", {}));
    const tokens = await answer(ask("tokenize", { text: "ab", allowSpecial: false }));
    expect(tokens).toMatchObject({ result: [97, 98] });
    expect(await answer(ask("detokenize", [1]))).toMatchObject({ result: "text of [1]" });
    expect(await answer(ask("score", { prompt: "p", stride: 3, start: 0 }))).toMatchObject({
      result: {
        tokens: [
          { id: 7, logprob: null, rank: null },
          { id: 8, logprob: -1, rank: 3 },
        ],
        logprob: -1,
        perplexity: Math.E,
      },
    });
    const scored = (done: number) => ({
      done,
      total: 2,
      tokens: [expect.objectContaining({ id: done + 6 })],
    });
    for (const done of [1, 2]) expect(sent).toContainEqual({ type: "event", id: 4, event: scored(done) });
    expect(await answer(ask("generate", request))).toMatchObject({
      result: { finishReason: "length", seed: 1 },
    });
    expect(engine.requests).toContainEqual({ prompt: "p", options: { stride: 3, start: 0 } });
    expect(sent.filter((message) => message.type === "event" && message.id === 5).length).toBe(2);
  });

  it("the server drops a request that was cancelled while it waited", async () => {
    const { engine, server, ask, answer } = serve();
    await answer(ask("load", {}));
    const first = ask("generate", { ...request, options: { maxNewTokens: 500 } });
    const second = ask("tokenize", { text: "p", allowSpecial: false });
    server.receive({ type: "cancel", id: second });
    expect(await answer(second)).toMatchObject({ type: "failed", error: { code: "cancelled" } });
    await answer(first);
    expect(engine.calls).not.toContain("tokenize");
    server.receive({ type: "cancel", id: first }); // long over
    server.receive({ type: "read", id: first, tokens: 1 });
  });

  it("the server decodes ids while a generation runs", async () => {
    const { ask, answer, sent } = serve();
    await answer(ask("load", {}));
    const first = ask("generate", { ...request, options: { maxNewTokens: 500 } });
    const second = ask("detokenize", [1]);
    expect(await answer(second)).toMatchObject({ result: "text of [1]" });
    await answer(first);
    const ended = sent.flatMap((message) => (message.type === "done" ? [message.id] : []));
    expect(ended.slice(-2)).toEqual([second, first]);
  });

  it("the server destroys an engine that starts after the end", async () => {
    const engine = new FakeEngine();
    let goOn: () => void = () => {};
    const { server, sent, ask, answer } = serve(engine, async (request, around) => {
      await new Promise<void>((resolve) => (goOn = resolve));
      return loadsAtOnce(engine)(request, around);
    });
    const loading = ask("load", {});
    await new Promise((resolve) => setImmediate(resolve));
    server.receive({ type: "end" });
    expect(sent).toEqual([{ type: "ended" }]);
    goOn();
    await answer(loading);
    expect(engine.isDestroyed).toBe(true);
  });

  it("threads lost during a load are reported only to that load", async () => {
    let failed = -1;
    const engine = new FakeEngine();
    const { server, sent, ask, answer } = serve(engine, (request, around) => {
      server.loseThread();
      failed = around.failedThreads();
      return loadsAtOnce(engine)(request, around);
    });
    await answer(ask("load", {}));
    expect(failed).toBe(1);
    expect(sent.map(({ type }) => type)).toEqual(["done"]);
    const notice = (threads: number, helpers: string) =>
      `Running on ${threads} of 4 threads: ${helpers} could not be started, or failed.`;
    server.loseThread();
    const one = { threads: 3, notice: notice(3, "a helper thread") };
    expect(sent.at(-1)).toEqual({ type: "info", info: one });
    for (let i = 0; i < 5; ++i) server.loseThread();
    const all = { threads: 1, notice: notice(1, "helper threads") };
    expect(sent.at(-1)).toEqual({ type: "info", info: all });
  });
});

describe("invalid messages", () => {
  const stops = (stop: unknown) => ({ prompt: "p", options: { stop }, ahead: 1 });
  it.each([
    ["generate", null, "message.args is null, expected an object"],
    ["generate", { prompt: 5, options: {}, ahead: 1 }, "message.args.prompt is 5, expected text"],
    ["generate", { prompt: "p", options: {}, ahead: NaN }, "message.args.ahead is NaN, expected a number"],
    ["generate", stops(Array(1e6).fill("x")), "options.stop has 1000000 elements, expected at most 256"],
    ["generate", stops(["x".repeat(1e6)]), "options.stop[0] has 1000000 characters, expected at most 1024"],
    ["generate", stops(["a", 5]), "message.args.options.stop[1] is 5, expected text"],
    ["generate", stops({ a: 1 }), "message.args.options.stop is an object, expected a number"],
    ["score", { prompt: "p", odd: Array(1e6).fill("x") }, "message.args.odd has 1000000 elements"],
    ["tokenize", { text: ["a"], allowSpecial: false }, "message.args.text is an array, expected text"],
    ["detokenize", [1, -1], "message.args[1] is -1, expected a whole number from 0"],
    ["detokenize", Array(2 ** 24 + 1), "message.args has 16777217 elements, expected at most 16777216"],
    ["nope", {}, 'message.name is "nope", expected one of load, generate'],
    ["constructor", {}, 'message.name is "constructor"'],
    [undefined, {}, "message.name is undefined"],
  ])(
    "an invalid request for %s is answered once, with an error that names the field",
    async (name, args, message) => {
      const { engine, server, sent } = serve();
      server.receive({ type: "request", id: 7, name, args });
      await new Promise((resolve) => setImmediate(resolve));
      const error = { code: "invalid-argument", message: expect.stringContaining(message) as string };
      expect(sent).toEqual([{ type: "failed", id: 7, error }]);
      expect(engine.calls).toEqual([]);
    },
  );

  it.each([
    [null, "message is null, expected an object"],
    [{ type: "toString" }, 'message.type is "toString"'],
    [{ type: "cancel" }, "message.id is undefined"],
    [{ type: "read", id: 1, tokens: -1 }, "message.tokens is -1"],
    [{ type: "request", id: "1", name: "tokenize" }, 'message.id is "1"'],
  ])("an invalid message without a request gets no answer: %j", (data, message) => {
    const { server, sent } = serve();
    server.receive(data);
    const error = { message: expect.stringContaining(message) as string };
    expect(sent).toMatchObject([{ type: "failed", id: 0, error }]);
  });

  it("an invalid message does not end the running request with the same id", async () => {
    const { server, sent, ask, answer } = serve();
    await answer(ask("load", {}));
    const id = ask("generate", request);
    server.receive({ type: "request", id, name: "tokenize", args: { text: "", allowSpecial: false } });
    server.receive({ type: "request", id, name: "nope" });
    expect(await answer(id)).toMatchObject({ type: "done" });
    expect(sent.filter((message) => "id" in message && message.id === 0)).toHaveLength(2);
  });
});

describe("prefill", () => {
  const text = { prompt: "p", allowSpecial: false };
  const ready = async () => {
    const served = serve();
    await served.answer(served.ask("load", {}));
    return served;
  };
  const stepsOf = (engine: FakeEngine) => engine.calls.filter((name) => name === "_gpt2_prefill_step").length;

  it("prefill runs all tokens but the last, and reports progress", async () => {
    const { ask, answer, sent, engine } = await ready();
    const id = ask("prefill", text);
    expect(await answer(id)).toMatchObject({
      type: "done",
      result: { promptTokens: 5, reusedTokens: 2, cachedTokens: 4 },
    });
    const events = sent.flatMap((message) => (message.type === "event" ? [message.event] : []));
    expect(events).toEqual([3, 4].map((done) => ({ done, total: 5 })));
    const options = { maxNewTokens: 0, n: 1, strict: false, allowSpecial: false };
    expect(engine.requests).toEqual([{ prompt: "p", options }]);
  });

  it.each(["generate", "prefill", "score"] as const)(
    "a %s that arrives during a prefill ends it",
    async (name) => {
      const { ask, answer, engine, sent } = await ready();
      const step = engine.step.bind(engine);
      let next = 0;
      engine.step = (call) => {
        if (call === "_gpt2_prefill_step" && next === 0)
          next = ask(name, name === "prefill" ? text : name === "score" ? { prompt: "p" } : request);
        return step(call);
      };
      const first = ask("prefill", text);
      expect(await answer(first)).toMatchObject({ result: { cachedTokens: 3 } }); // after the step under way
      expect(await answer(next)).toMatchObject({ type: "done" });
      const ends = sent.flatMap((message) => (message.type === "done" ? [message.id] : []));
      expect(ends.slice(1)).toEqual([first, next]);
    },
  );

  it("prefill does nothing for an empty text", async () => {
    const { ask, answer, engine } = await ready();
    expect(await answer(ask("prefill", { ...text, prompt: "" }))).toMatchObject({
      result: { promptTokens: 0, reusedTokens: 0, cachedTokens: 0 },
    });
    expect(engine.calls).toEqual([]);
  });

  it("prefill runs no token if a request already waits, nor after its abort", async () => {
    const { ask, answer, engine, server } = await ready();
    const [first, second] = [ask("prefill", text), ask("generate", request)];
    expect(await answer(first)).toMatchObject({ result: { cachedTokens: 2 } });
    await answer(second);
    expect(stepsOf(engine)).toBe(0);
    const third = ask("prefill", text);
    server.receive({ type: "cancel", id: third });
    expect(await answer(third)).toMatchObject({ type: "failed", error: { code: "cancelled" } });
    expect(stepsOf(engine)).toBe(0);
  });

  it("prefill lets requests run that do not need the cache, and continues", async () => {
    const { ask, answer, engine } = await ready();
    const [first, second] = [ask("prefill", text), ask("tokenize", { text: "ab", allowSpecial: false })];
    expect(await answer(second)).toMatchObject({ result: [97, 98] });
    expect(await answer(first)).toMatchObject({ result: { cachedTokens: 4 } });
    const step = "_gpt2_prefill_step";
    expect(engine.calls).toEqual(["_gpt2_generate", "tokenize", step, step]);
  });

  it("a generation that waits for its reader does not end a prefill", async () => {
    const { ask, answer, server } = await ready();
    const slow = ask("generate", { ...request, ahead: 0 });
    expect(await answer(ask("prefill", text))).toMatchObject({ result: { cachedTokens: 4 } });
    server.receive({ type: "read", id: slow, tokens: 100 });
    expect(await answer(slow)).toMatchObject({ type: "done" });
  });
});

describe("generate", () => {
  const around = (events: unknown[] = []) => ({
    signal: new AbortController().signal,
    tell: (event: unknown) => void events.push(event),
    readAhead: new ReadAhead(Infinity),
    pause: async (ready: Promise<void>) => ready,
  });

  /** Runs a generation of so many tokens on `engine`. */
  const write = (maxNewTokens: number, engine = new FakeEngine(), surroundings = around()) =>
    generate(asEngine(engine), { ...request, options: { maxNewTokens } }, surroundings);

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
    engine.step = () => {
      for (const until = performance.now() + 5; performance.now() < until;);
      return steps.shift() ?? engine.output();
    };
    engine.call = () => ({
      finishReasons: ["eos", "stop"],
      droppedTokens: 3,
      draftedTokens: 6,
      acceptedTokens: 4,
    });
    const events: unknown[] = [];
    const summary = await generate(asEngine(engine), request, around(events));
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
      timings: { promptTokens: 3, decodedTokens: 1, draftedTokens: 6, acceptedTokens: 4 },
    });
    const { firstTokenMs, totalMs, promptTokensPerSecond, decodedTokensPerSecond } = summary.timings;
    expect(firstTokenMs).toBeGreaterThanOrEqual(10);
    expect(totalMs).toBeGreaterThanOrEqual(firstTokenMs + 10);
    expect(promptTokensPerSecond).toBeCloseTo((1000 * 3) / firstTokenMs, 6);
    expect(decodedTokensPerSecond).toBeCloseTo(1000 / (totalMs - firstTokenMs), 6);
  });

  it("generate sends the first token at once, and later tokens in batches of a few milliseconds", async () => {
    const events: { tokens: Token[] }[] = [];
    await write(200, undefined, around(events));
    expect(events[0]?.tokens).toHaveLength(1);
    expect(events.flatMap(({ tokens }) => tokens.map(({ id }) => id))).toEqual(
      Array.from({ length: 200 }, (_, id) => id),
    );
    expect(events.length).toBeLessThan(100);
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
    expect(events.flatMap(({ tokens }) => tokens.map(({ id }) => id))).toEqual([0, 1, 2]);
  });

  it("the measured time excludes waiting for the reader", async () => {
    const engine = new FakeEngine();
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
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
});
