// The worker's side alone: its answers to messages.
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { FromWorker, RequestName } from "../../web/src/shared/protocol.js";
import type { GenerateSummary } from "../../web/src/shared/types.js";
import { Server } from "../../web/src/worker/server.js";
import { speedToRemember } from "../../web/src/worker/thread-speed.js";
import { asEngine, FakeEngine, loadsAtOnce } from "./support/fake-engine.js";
import { loadRequest } from "./support/load-request.js";

const ofFolder = loadRequest({ kind: "folder", url: "http://host/m/" });

function serve(engine = new FakeEngine(), load = loadsAtOnce(engine)) {
  const sent: FromWorker[] = [];
  const server = new Server(load, (message) => sent.push(message));
  let id = 0;
  const ask = (name: RequestName, args: unknown) => {
    server.receive({ type: "request", id: ++id, name, args: name === "load" ? ofFolder : args });
    return id;
  };
  const answer = (to: number) =>
    vi.waitFor(() => {
      const found = sent.find((each) => (each.type === "done" || each.type === "failed") && each.id === to);
      expect(found).toBeDefined();
      return found;
    });
  const reply = (name: RequestName, args: unknown = {}) => answer(ask(name, args));
  return { engine, server, sent, ask, answer, reply };
}
/** With a model. */
async function loaded(engine = new FakeEngine(), load = loadsAtOnce(engine)) {
  const served = serve(engine, load);
  await served.reply("load");
  return served;
}
const typesOf = (sent: FromWorker[]) => sent.map(({ type }) => type);
const endedIds = (sent: FromWorker[]) => sent.flatMap((each) => (each.type === "done" ? [each.id] : []));
const text = { text: "ab", allowSpecial: false };
const request = { prompt: "p", options: { maxNewTokens: 2, seed: 1 }, ahead: Infinity };

describe("the best thread count", () => {
  const infos = (sent: FromWorker[]) => sent.filter(({ type }) => type === "info");
  beforeEach(() => void vi.useFakeTimers());
  const idle = () => vi.advanceTimersByTimeAsync(500);

  it("thread counts are measured once after a text while the model is idle, and reported", async () => {
    const engine = new FakeEngine();
    const load = loadsAtOnce(engine, { measureAs: "k" });
    const { server, sent, ask, answer, reply } = await loaded(engine, load);
    await reply("tokenize", text);
    await idle();
    expect(engine.measurements).toBe(0); // a measurement would delay the first token
    const slow = ask("generate", { ...request, ahead: 0 });
    await reply("generate", request);
    await idle();
    expect(engine.measurements).toBe(0); // one generation is paused until its reader continues
    server.receive({ type: "read", id: slow, tokens: 100 });
    await answer(slow);
    await idle();
    expect(infos(sent)).toEqual([
      { type: "info", info: { threads: 2, notice: null }, threadChoice: { key: "k", threads: 2 } },
    ]);
    expect(engine.measurements).toBe(3);
    await reply("generate", request);
    await idle();
    expect(engine.measurements).toBe(3);
  });

  it.each([
    ["is reported but not stored if threads are missing", { measureAs: undefined }, false, 1],
    ["is not stored if the clock is too coarse", { measureAs: "coarse" }, false, 1],
    ["is not measured if it is known", undefined, false, 0],
    ["is not measured after the end of the worker", { measureAs: "k" }, true, 0],
  ])("the best thread count %s", async (_, measure, ends, reports) => {
    const engine = new FakeEngine();
    engine.hasCoarseClock = measure?.measureAs === "coarse";
    const { server, sent, reply } = await loaded(engine, loadsAtOnce(engine, measure));
    await reply("generate", request);
    if (ends) server.receive({ type: "end" });
    await idle(); // an unhandled rejection would fail the run, too
    expect(infos(sent)).toEqual(Array(reports).fill({ type: "info", info: { threads: 2, notice: null } }));
  });
});

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
  const drafted = summaryOf(50, { accepted: 20 });
  expect(speedToRemember(known, drafted, 1000)).toEqual({ ...known, speed: 50_000 });
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
  for (const [stored, requests, expected] of [
    [{}, [request, long, long], { ...known, speed: expect.any(Number) as number }],
    [{ speed: 1 }, [long, long], { key: "k", threads: 0 }],
  ] as const) {
    const load = loadsAtOnce(new FakeEngine(), undefined, { ...known, ...stored });
    const { sent, reply } = await loaded(undefined, load);
    for (const each of requests) await reply("generate", each);
    expect(choices(sent)).toEqual([expected]);
  }
});

it("the server refuses all requests before a model is loaded, and after a failed load", async () => {
  const engine = new FakeEngine();
  const { reply } = serve(engine, async (_, { onEngine }) => {
    onEngine(asEngine(engine));
    throw new Error("odd");
  });
  const all = { prompt: "p", text: "p", allowSpecial: false };
  const error = { code: "invalid-argument", message: "no model is loaded" };
  for (const name of ["generate", "prefill", "inspect", "score", "tokenize", "detokenize"] as const) {
    const args = { generate: request, detokenize: [1] }[name as string] ?? all;
    expect(await reply(name, args), name).toMatchObject({ type: "failed", error });
  }
  const odd = { code: "worker-died", message: expect.stringContaining("odd") as string };
  expect(await reply("load")).toMatchObject({ error: odd });
  expect(await reply("tokenize", text)).toMatchObject({ error });
});

it("the server answers each kind of request, and loads only one model", async () => {
  const { engine, sent, reply } = serve();
  expect(await reply("load")).toMatchObject({ type: "done", result: { info: { threads: 4 } } });
  expect(await reply("tokenize", text)).toMatchObject({ result: [97, 98] });
  expect(await reply("detokenize", [1])).toMatchObject({ result: "text of [1]" });
  const tokens = [
    { id: 7, text: "a", logprob: null, rank: null },
    { id: 8, text: "b", logprob: -1, rank: 3 },
  ];
  const score = { tokens, logprob: -1, perplexity: Math.E };
  expect(await reply("score", { prompt: "p", stride: 3, start: 0 })).toMatchObject({ result: score });
  expect(engine.requests).toEqual([{ prompt: "p", options: { stride: 3, start: 0 } }]);
  const result = { finishReason: "length", seed: 1 };
  expect(await reply("generate", request)).toMatchObject({ result });
  const eventsOf = (id: number) =>
    sent.flatMap((each) => (each.type === "event" && each.id === id ? [each.event] : []));
  expect(eventsOf(4)).toEqual(tokens.map((token, i) => ({ done: i + 1, total: 2, tokens: [token] })));
  expect(eventsOf(5)).toHaveLength(2);
  const error = { code: "invalid-argument", message: "this worker already has a model" };
  expect(await reply("load")).toMatchObject({ error });
});

it("the server drops a request that was cancelled while it waited", async () => {
  const { engine, server, ask, answer } = await loaded();
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
  const { sent, ask, answer } = await loaded();
  const first = ask("generate", { ...request, options: { maxNewTokens: 500 } });
  const second = ask("detokenize", [1]);
  expect(await answer(second)).toMatchObject({ result: "text of [1]" });
  await answer(first);
  expect(endedIds(sent).slice(-2)).toEqual([second, first]);
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
  const { server, sent, reply } = serve(engine, (request, around) => {
    server.loseThread();
    failed = around.failedThreads();
    return loadsAtOnce(engine)(request, around);
  });
  await reply("load");
  expect(failed).toBe(1);
  expect(typesOf(sent)).toEqual(["done"]);
  const notice = (threads: number, helpers: string) =>
    `Running on ${threads} of 4 threads: ${helpers} could not be started, or failed.`;
  server.loseThread();
  const one = { threads: 3, notice: notice(3, "a helper thread") };
  expect(sent.at(-1)).toEqual({ type: "info", info: one });
  for (let i = 0; i < 5; ++i) server.loseThread();
  const all = { threads: 1, notice: notice(1, "helper threads") };
  expect(sent.at(-1)).toEqual({ type: "info", info: all });
});

const stops = (stop: unknown) => ({ prompt: "p", options: { stop }, ahead: 1 });
it.each([
  ["generate", null, "message.args is null, expected an object"],
  ["generate", { prompt: "p", options: {}, ahead: NaN }, "message.args.ahead is NaN, expected a number"],
  ["generate", stops(Array(1e6).fill("x")), "options.stop has 1000000 elements, expected at most 256"],
  ["generate", stops(["x".repeat(1e6)]), "options.stop[0] has 1000000 characters, expected at most 1024"],
  ["generate", stops(["a", 5]), "message.args.options.stop[1] is 5, expected text"],
  ["detokenize", [1, -1], "message.args[1] is -1, expected a whole number from 0"],
  ["detokenize", Array(2 ** 24 + 1), "message.args has 16777217 elements, expected at most 16777216"],
  ["nope", {}, 'message.name is "nope", expected one of load, generate'],
])("an invalid request for %s gets one error, which names the field", async (name, args, message) => {
  const { engine, server, sent } = serve();
  server.receive({ type: "request", id: 7, name, args });
  await new Promise((resolve) => setImmediate(resolve));
  const error = { code: "invalid-argument", message: expect.stringContaining(message) as string };
  expect(sent).toEqual([{ type: "failed", id: 7, error }]);
  expect(engine.calls).toEqual([]);
});

it.each([
  [null, "message is null, expected an object"],
  [{ type: "toString" }, 'message.type is "toString"'],
  [{ type: "cancel" }, "message.id is undefined"],
  [{ type: "read", id: 1, tokens: -1 }, "message.tokens is -1"],
])("an invalid message without a request gets no answer: %j", (data, message) => {
  const { server, sent } = serve();
  server.receive(data);
  const error = { message: expect.stringContaining(message) as string };
  expect(sent).toMatchObject([{ type: "failed", id: 0, error }]);
});

it("an invalid message does not end the running request with the same id", async () => {
  const { server, sent, ask, answer } = await loaded();
  const id = ask("generate", request);
  server.receive({ type: "request", id, name: "tokenize", args: { text: "", allowSpecial: false } });
  server.receive({ type: "request", id, name: "nope" });
  expect(await answer(id)).toMatchObject({ type: "done" });
  expect(sent.filter((message) => "id" in message && message.id === 0)).toHaveLength(2);
});

const prompt = { prompt: "p", allowSpecial: false };
const stepsOf = (engine: FakeEngine) => engine.calls.filter((name) => name === "_gpt2_prefill_step").length;

it("prefill runs all tokens but the last, and reports progress; an empty text has none", async () => {
  const { engine, sent, reply } = await loaded();
  const result = { promptTokens: 5, reusedTokens: 2, cachedTokens: 4 };
  expect(await reply("prefill", prompt)).toMatchObject({ type: "done", result });
  const events = sent.flatMap((message) => (message.type === "event" ? [message.event] : []));
  expect(events).toEqual([3, 4].map((done) => ({ done, total: 5 })));
  const options = { maxNewTokens: 0, n: 1, strict: false, allowSpecial: false };
  const none = { promptTokens: 0, reusedTokens: 0, cachedTokens: 0 };
  expect(await reply("prefill", { ...prompt, prompt: "" })).toMatchObject({ result: none });
  expect(engine.requests).toEqual([{ prompt: "p", options }]);
});

const overtaking = { generate: request, prefill: prompt, score: { prompt: "p" } };
it.each(Object.entries(overtaking))("a %s that arrives during a prefill ends it", async (name, args) => {
  const { engine, sent, ask, answer } = await loaded();
  const step = engine.step.bind(engine);
  let next = 0;
  engine.step = (call) => {
    if (call === "_gpt2_prefill_step" && next === 0) next = ask(name as RequestName, args);
    return step(call);
  };
  const first = ask("prefill", prompt);
  expect(await answer(first)).toMatchObject({ result: { cachedTokens: 3 } }); // after the step under way
  expect(await answer(next)).toMatchObject({ type: "done" });
  expect(endedIds(sent).slice(1)).toEqual([first, next]);
});

it("prefill runs no token if a request already waits, nor after its abort", async () => {
  const { engine, server, ask, answer } = await loaded();
  const [first, second] = [ask("prefill", prompt), ask("generate", request)];
  expect(await answer(first)).toMatchObject({ result: { cachedTokens: 2 } });
  await answer(second);
  expect(stepsOf(engine)).toBe(0);
  const third = ask("prefill", prompt);
  server.receive({ type: "cancel", id: third });
  expect(await answer(third)).toMatchObject({ type: "failed", error: { code: "cancelled" } });
  expect(stepsOf(engine)).toBe(0);
});

it("prefill lets requests run that do not need the cache, and continues", async () => {
  const { engine, ask, answer } = await loaded();
  const [first, second] = [ask("prefill", prompt), ask("tokenize", text)];
  expect(await answer(second)).toMatchObject({ result: [97, 98] });
  expect(await answer(first)).toMatchObject({ result: { cachedTokens: 4 } });
  const step = "_gpt2_prefill_step";
  expect(engine.calls).toEqual(["_gpt2_generate", "tokenize", step, step]);
});

it("a generation that waits for its reader does not end a prefill", async () => {
  const { server, ask, answer, reply } = await loaded();
  const slow = ask("generate", { ...request, ahead: 0 });
  expect(await reply("prefill", prompt)).toMatchObject({ result: { cachedTokens: 4 } });
  server.receive({ type: "read", id: slow, tokens: 100 });
  expect(await answer(slow)).toMatchObject({ type: "done" });
});
