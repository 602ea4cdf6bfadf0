// The messages of a model's methods, and the results that they make of the answers.
import { expect, it, vi } from "vitest";
import { generateOptionNames } from "../../web/src/shared/generate-options.js";
import { Model } from "../../web/src/client/model.js";
import type { FromWorker } from "../../web/src/shared/protocol.js";
import type { GenerateSummary, ModelInfo, Token } from "../../web/src/shared/types.js";
import { connect, type FakeWorker } from "./support/fake-worker.js";

function make() {
  const made = connect();
  const config = { vocabSize: 9, nPositions: 8, nHead: 1, nEmbd: 2 };
  return { ...made, model: new Model(made.connection, { threads: 4, notice: null, config } as ModelInfo) };
}
const refusal = (message: string) => expect.objectContaining({ code: "invalid-argument", message });
const token = (id: number, index = 0): Token => ({ index, id, text: `${id} `, logprob: -1, rank: 1 });

it("Model requests a generation that is read token by token, or as a whole", () => {
  const { worker, model } = make();
  const { signal } = new AbortController();
  model.generate("nothing is requested before the first token is");
  void model.generate("p", { topK: 3, signal, onPrompt: () => {}, onSummary: () => {} }).next();
  void model.complete(Uint32Array.of(1, 2), { n: 2 });
  expect(worker.all("request").map(({ id, name, args }) => [id, name, args])).toEqual([
    [1, "generate", { prompt: "p", options: { topK: 3 }, ahead: 256 }],
    [2, "generate", { prompt: [1, 2], options: { n: 2 }, ahead: Infinity }],
  ]);
});

it.each<[string, (model: Model) => Promise<unknown>, unknown]>([
  ["tokenize", (model) => model.tokenize("t"), { text: "t", allowSpecial: false }],
  ["tokenize", (model) => model.tokenize("t", { allowSpecial: true }), { text: "t", allowSpecial: true }],
  [
    "tokenize",
    (model) => model.tokenize("t", { places: true }),
    { text: "t", allowSpecial: false, places: true },
  ],
  ["detokenize", (model) => model.detokenize(Uint32Array.of(3)), [3]],
  ["prefill", (model) => model.prefill("f"), { prompt: "f", allowSpecial: false }],
  ["prefill", (model) => model.prefill([4], { allowSpecial: true }), { prompt: [4], allowSpecial: true }],
  ["inspect", (model) => model.inspect("i", { layer: 1, head: null }), { prompt: "i", layer: 1 }],
  ["score", (model) => model.score("s", { stride: 2, start: 0 }), { prompt: "s", stride: 2, start: 0 }],
  ["score", (model) => model.score([1]), { prompt: [1] }],
])("Model requests %s with its arguments", (name, call, args) => {
  const { worker, model } = make();
  void call(model);
  expect(worker.all("request")).toEqual([{ type: "request", id: 1, name, args }]);
});

it("a model works through a proxy that wraps what is read from it, as in Vue's reactive objects", async () => {
  const { worker, model } = make();
  const wrap = <T extends object>(object: T): T =>
    new Proxy(object, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key);
        return typeof value === "object" && value !== null && Object.isExtensible(value)
          ? wrap(value)
          : value;
      },
      set: () => true, // read-only
    });
  void wrap(model)
    .tokenize("t")
    .catch(() => {}); // the model ends before
  void wrap(model)
    .generate("p")
    .next()
    .catch(() => {});
  expect(worker.all("request").map(({ id }) => id)).toEqual([1, 2]);
  const ended = wrap(model).dispose();
  worker.say({ type: "ended" });
  await ended;
});

it("fill asks for the three tokens of a gap, and reads its texts without special tokens", async () => {
  const { worker, model } = make();
  const filled = model.fill("before<fim_middle>", "after", { temperature: 0 });
  const asked: [args: unknown, answer: number[]][] = [
    [{ text: "", allowSpecial: false }, [5]], // its template begins every text with this token
    [{ text: "<fim_prefix><fim_suffix><fim_middle>", allowSpecial: true }, [5, 90, 91, 92, 93]], // text, to this tokenizer
    [{ text: "<fim-prefix><fim-suffix><fim-middle>", allowSpecial: true }, [5, 7, 8, 9]],
    [{ text: "before<fim_middle>", allowSpecial: false }, [5, 1, 2]],
    [{ text: "after", allowSpecial: false }, [5, 3]],
  ];
  for (const [i, [args, result]] of asked.entries()) {
    await vi.waitFor(() => expect(worker.all("request").at(-1)).toMatchObject({ id: i + 1, args }));
    worker.say({ type: "done", id: i + 1, result });
  }
  const args = { prompt: [5, 7, 1, 2, 8, 3, 9], options: { temperature: 0, strict: true }, ahead: Infinity };
  await vi.waitFor(() =>
    expect(worker.all("request").at(-1)).toMatchObject({ id: 6, name: "generate", args }),
  );
  worker.say({ type: "event", id: 6, event: { tokens: [token(4)] } });
  worker.say({ type: "done", id: 6, result: { seed: 1, finishReasons: ["eos"] } as GenerateSummary });
  expect(await filled).toMatchObject({ text: "4 ", finishReasons: ["eos"] });
});

/** Calls that are built on others. */
const composed: Record<string, (model: Model, options: { signal: AbortSignal }) => Promise<unknown>> = {
  fill: async (model, options) => model.fill("before", "after", options),
  heads: async (model, options) => model.heads(options),
  patchMap: async (model, options) => model.patchMap("clean", "corrupted", { token: 1, ...options }),
  attribute: async (model, options) => model.attribute("text", options),
  neighbours: async (model, options) => model.neighbours(1, options),
  embed: async (model, options) => model.embed(["text"], options),
  steer: async (model, options) => model.steer(["one"], ["other"], "embed", options),
};
it.each(Object.entries(composed))("%s can be aborted while it reads the texts", async (_name, call) => {
  const { worker, model } = make();
  const controller = new AbortController();
  const { signal } = controller;
  const called = call(model, { signal });
  await vi.waitFor(() => expect(worker.all("request")).toHaveLength(1));
  controller.abort(new Error("enough"));
  await expect(called).rejects.toThrow("enough");
  await expect(call(model, { signal })).rejects.toThrow("enough");
  expect(worker.received.map(({ type }) => type)).toEqual(["request", "cancel"]);
});

it.each([[[]], [[1, 2]], [[1, 2, 3, 4]], [[1, 1, 1]]])(
  "fill refuses a model whose gap has the tokens %j",
  async (ids) => {
    const { worker, model } = make();
    const filled = model.fill("before", "after");
    for (const [at, result] of [[], ids, ids].entries()) {
      await vi.waitFor(() => expect(worker.all("request")).toHaveLength(at + 1));
      worker.say({ type: "done", id: at + 1, result });
    }
    const lacks = "this model cannot fill in: its tokenizer lacks the tokens that mark the gap, ";
    const marks = "<fim_prefix> <fim_suffix> <fim_middle>, or <fim-prefix> <fim-suffix> <fim-middle>";
    await expect(filled).rejects.toEqual(refusal(lacks + marks));
    expect(worker.all("request")).toHaveLength(3);
  },
);

const prompt = "expected text or an array of token ids";
const oneOf = "expected one of ";
const meanStride = "did you mean stride? Expected one of stride, start, change, signal, onProgress";
const meanHead =
  "did you mean head? Expected one of position, layer, head, top, capture, positions, change, signal, onProgress";
const ofCalls = "change, signal, onPrompt, onSummary";
const meanMost = `did you mean maxNewTokens? Expected one of ${generateOptionNames.join(", ")}, ${ofCalls}`;
const ofFill = generateOptionNames.filter((name) => !["heal", "strict", "allowSpecial"].includes(name));
it.each([
  ["tokenize", [3], "text is 3, expected text"],
  ["tokenize", ["t", { allowSpecial: 1 }], "allowSpecial is 1, expected true or false"],
  [
    "tokenize",
    ["t", { odd: 1 }],
    'unknown option "odd" of tokenize, expected one of allowSpecial, places, signal',
  ],
  ["detokenize", ["t"], 'ids is "t", expected an array of token ids'],
  ["detokenize", [[1], { skip: 1 }], 'unknown option "skip" of detokenize, expected one of signal'],
  ["prefill", [3], `text is 3, ${prompt}`],
  ["prefill", ["t", { x: 1 }], `unknown option "x" of prefill, ${oneOf}allowSpecial, signal, onProgress`],
  ["prefill", ["t", { allowSpecial: "y" }], 'allowSpecial is "y", expected true or false'],
  ["inspect", [3], `text is 3, ${prompt}`],
  ["inspect", ["t", { heads: 1 }], `unknown option "heads" of inspect: ${meanHead}`],
  ["score", [undefined], `text is undefined, ${prompt}`],
  ["score", ["t", { strid: 1 }], `unknown option "strid" of score: ${meanStride}`],
  ["score", ["t", { stride: NaN }], "stride is NaN, expected a finite number"],
  ["score", ["t", { onProgress: 1 }], "onProgress is 1, expected a function"],
  ["complete", [Symbol("s")], `prompt is a symbol, ${prompt}`],
  ["complete", ["p", { onPrompt: 1 }], "onPrompt is 1, expected a function"],
  ["complete", ["p", { onSummary: 1 }], "onSummary is 1, expected a function"],
  ["complete", ["p", { signal: {} }], "signal is an object, expected an AbortSignal"],
  ["complete", ["p", 3], "the options of complete are 3, expected an object"],
  ["complete", ["p", { max_tokens: 3 }], `unknown option "max_tokens" of complete: ${meanMost}`],
  ["fill", ["b"], "after is undefined, expected text"],
  ["fill", [[1], "a"], "before is an array, expected text"],
  ["fill", ["b", "a", { n: NaN }], "n is NaN, expected a finite number"],
  [
    "fill",
    ["b", "a", { heal: true }],
    `unknown option "heal" of fill, ${oneOf}${ofFill.join(", ")}, ${ofCalls}`,
  ],
] as [string, unknown[], string][])("%s refuses the arguments %j", async (name, args, message) => {
  const { worker, model } = make();
  const odd = model as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  await expect(odd[name]?.(...args)).rejects.toEqual(refusal(message));
  expect(worker.received).toEqual([]);
});

const summary = { finishReasons: ["length", "stop"], seed: 5 } as GenerateSummary;
/** Answers request 1 with these tokens and the summary. */
const answering = (worker: FakeWorker, ...tokens: Token[]) => {
  for (const each of tokens) worker.say({ type: "event", id: 1, event: { tokens: [each] } });
  worker.say({ type: "done", id: 1, result: summary });
};

it("Model returns several continuations, each with its seed", async () => {
  const { worker, model } = make();
  const prompts: unknown[] = [];
  const completion = model.complete("p", { onPrompt: (event) => prompts.push(event) });
  worker.say({ type: "event", id: 1, event: { prompt: { done: 1, total: 2 } } });
  answering(worker, token(1), token(2, 1), token(3));
  expect(await completion).toEqual({
    ...summary,
    text: "1 3 ",
    tokens: [token(1), token(3)],
    continuations: [
      { text: "1 3 ", tokens: [token(1), token(3)], finishReason: "length", seed: 5 },
      { text: "2 ", tokens: [token(2, 1)], finishReason: "stop", seed: 6 },
    ],
  });
  expect(prompts).toEqual([{ done: 1, total: 2 }]);
});

it("Model streams the tokens, with the summary at the end", async () => {
  const { worker, model } = make();
  const prompts: unknown[] = [];
  const stream = model.generate("p", { onPrompt: (event) => prompts.push(event) });
  const first = stream.next();
  worker.say({ type: "event", id: 1, event: { prompt: { done: 1, total: 2 } } });
  worker.say({ type: "event", id: 1, event: { tokens: [token(1)] } });
  expect(await first).toEqual({ done: false, value: token(1) });
  answering(worker);
  expect(await stream.next()).toEqual({ done: true, value: summary });
  expect(prompts).toEqual([{ done: 1, total: 2 }]);
});

it("Model streams text in pieces of whole characters", async () => {
  const { worker, model } = make();
  const summaries: unknown[] = [];
  const stream = model.stream("p", { topK: 1, onSummary: (result) => summaries.push(result) });
  const response = new Response(stream.pipeThrough(new TextEncoderStream())); // as a server's
  answering(worker, ...["a", "", "é"].map((text) => ({ ...token(1), text })));
  expect(await response.text()).toBe("aé");
  expect(summaries).toEqual([summary]);
  expect(worker.all("request")[0]?.args).toEqual({ prompt: "p", options: { topK: 1 }, ahead: 256 });
});

it("the model does not run far ahead of its text stream", async () => {
  const { worker, model } = make();
  const reader = model.stream("p").getReader();
  for (let id = 0; id < 256; ++id) worker.say({ type: "event", id: 1, event: { tokens: [token(id)] } });
  for (let id = 0; id < 63; ++id) await reader.read();
  expect(worker.all("read")).toEqual([]);
  await reader.read();
  await reader.read();
  expect(worker.all("read")).toEqual([{ type: "read", id: 1, tokens: 64 }]);
});

it("cancelling the text stream stops the model, also while it waits", async () => {
  const { worker, model } = make();
  const reader = model.stream("p").getReader();
  const waiting = reader.read();
  await reader.cancel("enough");
  expect(await waiting).toEqual({ done: true, value: undefined });
  expect(worker.all("cancel")).toEqual([{ type: "cancel", id: 1 }]);
});

it("the text stream fails with the error of the generation", async () => {
  const { worker, model } = make();
  const controller = new AbortController();
  const aborted = model.stream("p", { signal: controller.signal }).getReader().read();
  controller.abort(new Error("mine"));
  await expect(aborted).rejects.toThrow("mine");
  const failing = model.stream("p").getReader().read();
  worker.say({ type: "failed", id: 2, error: { code: "invalid-argument", message: "topK" } });
  await expect(failing).rejects.toEqual(refusal("topK"));
  const why = "n is 2, but a stream is one text; use generate, whose tokens name their continuation";
  expect(() => model.stream("p", { n: 2 })).toThrow(refusal(why) as never);
});

const calls: Record<string, (model: Model, options: object) => Promise<unknown>> = {
  tokenize: (model, options) => model.tokenize("t", options),
  detokenize: (model, options) => model.detokenize([1], options),
  score: (model, options) => model.score("t", options),
  complete: (model, options) => model.complete("t", options),
  generate: (model, options) => model.generate("t", options).next(),
  stream: (model, options) => model.stream("t", options).getReader().read(),
  prefill: (model, options) => model.prefill("t", options),
  inspect: (model, options) => model.inspect("t", options),
};

const progress = { done: 1, total: 2 };
const prompting: FromWorker = { type: "event", id: 1, event: { prompt: progress } };
const noText = { finishReasons: [], seed: 1 } as unknown as GenerateSummary;
const callbacks: [option: string, names: string[], FromWorker][] = [
  ["onPrompt", ["complete", "generate", "stream"], prompting],
  ["onSummary", ["complete", "generate", "stream"], { type: "done", id: 1, result: noText }],
  ["onProgress", ["score", "prefill", "inspect"], { type: "event", id: 1, event: progress }],
];

it.each(callbacks)("an error of %s of %j rejects its call and no other", async (option, names, message) => {
  const mine = new Error("mine");
  const thrower = () => {
    throw mine;
  };
  for (const name of names)
    for (const callback of [thrower, async () => Promise.reject(mine)]) {
      const { worker, model } = make();
      const failing = calls[name]?.(model, { [option]: callback });
      worker.say(message);
      await expect(failing, name).rejects.toBe(mine);
      const next = model.detokenize([1]);
      worker.say({ type: "done", id: 2, result: "one" });
      expect(await next).toBe("one");
    }
});

it("an event without a callback is no error", () => {
  for (const [, names, message] of callbacks)
    for (const name of names) {
      const { worker, model } = make();
      void calls[name]?.(model, {});
      expect(() => worker.say(message), name).not.toThrow();
    }
});

it("every call of Model is in the list of calls that can be aborted", () => {
  const takeNone = ["constructor", "read", "explain", "dispose"];
  const names = Object.getOwnPropertyNames(Model.prototype).filter((name) => !takeNone.includes(name));
  expect(Object.keys({ ...calls, ...composed }).sort()).toEqual(names.sort());
});

it.each(Object.entries(calls))("an abort rejects the call: %s", async (_, call) => {
  const { worker, model } = make();
  const controller = new AbortController();
  const waiting = call(model, { signal: controller.signal });
  controller.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  expect(worker.received.map(({ type }) => type)).toEqual(["request", "cancel"]);
  const late = call(model, { signal: AbortSignal.abort(new Error("before")) });
  await expect(late).rejects.toThrow("before");
  expect(worker.all("request").length).toBe(1);
});

const collect = (globalThis as unknown as { gc: () => void }).gc; // tests run with --expose-gc
/** Collects what can be collected, and runs the callbacks that follow. */
async function collectAll() {
  for (let i = 0; i < 5; ++i) {
    collect();
    await new Promise((resolve) => setTimeout(resolve));
  }
}
const untilEnded = (worker: FakeWorker) =>
  vi.waitFor(() => {
    collect();
    expect(worker.all("end").length).toBe(1);
  });

// The registry must hold only the function that disposes of a model, and no reference to the model.
it("garbage collection disposes of an unreferenced model, once its request is answered", async () => {
  const { worker, connection } = connect();
  const busy = new Model(connection, {} as ModelInfo).tokenize("t");
  await collectAll();
  expect(worker.all("end")).toEqual([]);
  worker.say({ type: "done", id: 1, result: [1] });
  await busy;
  await untilEnded(worker);
});

it("garbage collection disposes of a model when its generation is no longer read", async () => {
  const { worker, connection } = connect();
  await (async () => {
    const stream = new Model(connection, {} as ModelInfo).generate("p");
    const first = stream.next();
    await collectAll();
    expect(worker.all("end")).toEqual([]);
    worker.say({ type: "event", id: 1, event: { tokens: [token(1)] } });
    expect((await first).value).toEqual(token(1));
  })();
  await untilEnded(worker);
});

it.each([
  ["generate", (model: Model) => model.generate("p").next()],
  ["stream", (model: Model) => model.stream("p").getReader().read()],
])(
  "garbage collection ends a generation by %s that nothing reads, and its model goes on",
  async (_, read) => {
    const { worker, connection } = connect();
    const model = new Model(connection, {} as ModelInfo);
    const first = read(model);
    worker.say({ type: "event", id: 1, event: { tokens: [token(1)] } });
    await first;
    await vi.waitFor(() => {
      collect();
      expect(worker.all("cancel")).toMatchObject([{ id: 1 }]);
    });
    void model.tokenize("t");
    expect([worker.all("request").length, worker.all("end").length]).toEqual([2, 0]);
  },
);
