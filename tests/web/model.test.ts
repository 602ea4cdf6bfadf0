// The messages of a model's methods, and the results that they make of the answers.
import { describe, expect, it, vi } from "vitest";
import { generateOptionNames } from "../../web/src/client/arguments.js";
import { Model } from "../../web/src/client/model.js";
import { TokenQueue } from "../../web/src/client/token-queue.js";
import type { FromWorker } from "../../web/src/shared/protocol.js";
import type { GenerateSummary, ModelInfo, Token } from "../../web/src/shared/types.js";
import { connect } from "./support/fake-worker.js";

function make() {
  const made = connect();
  return { ...made, model: new Model(made.connection, { threads: 4, notice: null } as ModelInfo) };
}
const refusal = (message: string) => expect.objectContaining({ code: "invalid-argument", message });
const token = (id: number, index = 0): Token => ({ index, id, text: `${id} `, logprob: -1, rank: 1 });

describe("Model sends", () => {
  it("Model requests a generation that is read token by token, or as a whole", () => {
    const { worker, model } = make();
    const signal = new AbortController().signal;
    void model.generate("p", { topK: 3, signal, onPrompt: () => {}, onSummary: () => {} }).next();
    void model.complete(Uint32Array.of(1, 2), { n: 2 });
    expect(worker.all("request")).toEqual([
      { type: "request", id: 1, name: "generate", args: { prompt: "p", options: { topK: 3 }, ahead: 256 } },
      {
        type: "request",
        id: 2,
        name: "generate",
        args: { prompt: [1, 2], options: { n: 2 }, ahead: Infinity },
      },
    ]);
  });

  it("Model requests tokens, texts and scores", () => {
    const { worker, model } = make();
    void model.tokenize("t");
    void model.tokenize("t", { allowSpecial: true });
    void model.detokenize(Uint32Array.of(3));
    void model.prefill("f");
    void model.prefill([4], { allowSpecial: true });
    void model.inspect("i", { layer: 1, head: null });
    void model.score("s", { stride: 2, start: 0 });
    void model.score([1]);
    expect(worker.all("request").map(({ name, args }) => [name, args])).toEqual([
      ["tokenize", { text: "t", allowSpecial: false }],
      ["tokenize", { text: "t", allowSpecial: true }],
      ["detokenize", [3]],
      ["prefill", { prompt: "f", allowSpecial: false }],
      ["prefill", { prompt: [4], allowSpecial: true }],
      ["inspect", { prompt: "i", layer: 1 }],
      ["score", { prompt: "s", stride: 2, start: 0 }],
      ["score", { prompt: [1] }],
    ]);
  });

  it("fill asks for the three tokens of a gap, and reads its texts without special tokens", async () => {
    const { worker, model } = make();
    const answer = (ids: number[]) =>
      worker.say({ type: "done", id: worker.all("request").length, result: ids });
    const last = () => worker.all("request").at(-1);
    const filled = model.fill("before<fim_middle>", "after", { temperature: 0 });
    await vi.waitFor(() => expect(last()?.id).toBe(1));
    expect(last()?.args).toEqual({ text: "<fim_prefix><fim_suffix><fim_middle>", allowSpecial: true });
    answer([90, 91, 92, 93]); // text, to this tokenizer
    await vi.waitFor(() => expect(last()?.id).toBe(2));
    expect(last()?.args).toEqual({ text: "<fim-prefix><fim-suffix><fim-middle>", allowSpecial: true });
    answer([7, 8, 9]);
    await vi.waitFor(() => expect(last()?.id).toBe(3));
    expect(last()?.args).toEqual({ text: "before<fim_middle>", allowSpecial: false });
    answer([1, 2]);
    await vi.waitFor(() => expect(last()?.id).toBe(4));
    expect(last()?.args).toEqual({ text: "after", allowSpecial: false });
    answer([3]);
    await vi.waitFor(() => expect(last()?.id).toBe(5));
    expect(last()).toMatchObject({
      name: "generate",
      args: { prompt: [7, 1, 2, 8, 3, 9], options: { temperature: 0, strict: true }, ahead: Infinity },
    });
    worker.say({ type: "event", id: 5, event: { tokens: [token(4)] } });
    worker.say({ type: "done", id: 5, result: { seed: 1, finishReasons: ["eos"] } as GenerateSummary });
    expect(await filled).toMatchObject({ text: "4 ", finishReasons: ["eos"] });
  });

  it("fill can be aborted while it reads the texts", async () => {
    const { worker, model } = make();
    const controller = new AbortController();
    const { signal } = controller;
    const filled = model.fill("before", "after", { signal });
    await vi.waitFor(() => expect(worker.all("request")).toHaveLength(1));
    controller.abort(new Error("enough"));
    await expect(filled).rejects.toThrow("enough");
    await expect(model.fill("before", "after", { signal })).rejects.toThrow("enough");
    expect(worker.received.map(({ type }) => type)).toEqual(["request", "cancel"]);
  });

  it.each([[[]], [[1, 2]], [[1, 2, 3, 4]]])(
    "fill refuses a model whose tokenizer makes %j of the tokens of a gap",
    async (ids) => {
      const { worker, model } = make();
      const filled = model.fill("before", "after");
      for (const id of [1, 2]) {
        await vi.waitFor(() => expect(worker.all("request")).toHaveLength(id));
        worker.say({ type: "done", id, result: ids });
      }
      await expect(filled).rejects.toEqual(
        refusal(
          "this model cannot fill in: its tokenizer lacks the tokens that mark the gap, " +
            "<fim_prefix> <fim_suffix> <fim_middle>, or <fim-prefix> <fim-suffix> <fim-middle>",
        ),
      );
      expect(worker.all("request")).toHaveLength(2);
    },
  );

  it("invalid arguments are never sent to the worker", async () => {
    const { worker, model } = make();
    const ofFill = generateOptionNames.filter((name) => !["heal", "strict", "allowSpecial"].includes(name));
    const odd = model as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    const calls: [string, unknown[], string][] = [
      ["tokenize", [3], "text is 3, expected text"],
      ["tokenize", ["t", { allowSpecial: 1 }], "allowSpecial is 1, expected true or false"],
      [
        "tokenize",
        ["t", { special: 1 }],
        'unknown option "special" of tokenize, expected one of allowSpecial, signal',
      ],
      ["tokenize", ["t", 3], "the options of tokenize are 3, expected an object"],
      ["tokenize", ["t", { signal: 1 }], "signal is 1, expected an AbortSignal"],
      ["detokenize", ["t"], 'ids is "t", expected an array of token ids'],
      ["detokenize", [[1], { skip: 1 }], 'unknown option "skip" of detokenize, expected one of signal'],
      ["detokenize", [[1], { signal: 1 }], "signal is 1, expected an AbortSignal"],
      ["prefill", [3], "text is 3, expected text or an array of token ids"],
      [
        "prefill",
        ["t", { stride: 1 }],
        'unknown option "stride" of prefill, expected one of allowSpecial, signal, onProgress',
      ],
      ["prefill", ["t", { allowSpecial: "y" }], 'allowSpecial is "y", expected true or false'],
      ["inspect", [3], "text is 3, expected text or an array of token ids"],
      [
        "inspect",
        ["t", { heads: 1 }],
        'unknown option "heads" of inspect: did you mean head? Expected one of position, layer, head, top, signal, onProgress',
      ],
      ["inspect", ["t", { layer: () => 1 }], "layer is a function, which no option accepts"],
      ["inspect", ["t", { head: Symbol("h") }], "head is a symbol, which no option accepts"],
      ["inspect", ["t", { top: NaN }], "top is NaN, expected a finite number"],
      ["score", [undefined], "text is undefined, expected text or an array of token ids"],
      [
        "score",
        ["t", { strid: 1 }],
        'unknown option "strid" of score: did you mean stride? Expected one of stride, start, signal, onProgress',
      ],
      ["score", ["t", { stride: NaN }], "stride is NaN, expected a finite number"],
      ["score", ["t", { start: Infinity }], "start is Infinity, expected a finite number"],
      ["score", ["t", { onProgress: 1 }], "onProgress is 1, expected a function"],
      ["score", ["t", { signal: 1 }], "signal is 1, expected an AbortSignal"],
      ["complete", [Symbol("s")], "prompt is a symbol, expected text or an array of token ids"],
      ["complete", ["p", { temperature: NaN }], "temperature is NaN, expected a finite number"],
      ["complete", ["p", { onPrompt: 1 }], "onPrompt is 1, expected a function"],
      ["complete", ["p", { onSummary: 1 }], "onSummary is 1, expected a function"],
      ["complete", ["p", { signal: {} }], "signal is an object, expected an AbortSignal"],
      ["complete", ["p", 3], "the options of complete are 3, expected an object"],
      ["fill", ["b"], "after is undefined, expected text"],
      ["fill", [[1], "a"], "before is an array, expected text"],
      ["fill", ["b", "a", { n: NaN }], "n is NaN, expected a finite number"],
      ["fill", ["b", "a", { signal: 1 }], "signal is 1, expected an AbortSignal"],
      [
        "fill",
        ["b", "a", { heal: true }],
        `unknown option "heal" of fill, expected one of ${ofFill.join(", ")}, signal, onPrompt, onSummary`,
      ],
      [
        "complete",
        ["p", { max_tokens: 3 }],
        'unknown option "max_tokens" of complete: did you mean maxNewTokens? Expected one of ' +
          `${generateOptionNames.join(", ")}, signal, onPrompt, onSummary`,
      ],
    ];
    for (const [name, args, message] of calls) {
      await expect(odd[name]?.(...args), `${name} ${message}`).rejects.toEqual(refusal(message));
    }
    await expect(model.generate(undefined as unknown as string).next()).rejects.toEqual(
      refusal("prompt is undefined, expected text or an array of token ids"),
    );
    expect(worker.received).toEqual([]);
  });
});

describe("Model makes", () => {
  const summary = { finishReasons: ["length", "stop"], seed: 5 };

  it("Model returns several continuations, each with its seed", async () => {
    const { worker, model } = make();
    const prompts: unknown[] = [];
    const completion = model.complete("p", { onPrompt: (event) => prompts.push(event) });
    worker.say({ type: "event", id: 1, event: { prompt: { done: 1, total: 2 } } });
    for (const event of [token(1), token(2, 1), token(3)])
      worker.say({ type: "event", id: 1, event: { tokens: [event] } });
    worker.say({ type: "done", id: 1, result: summary as never });
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
    worker.say({ type: "done", id: 1, result: summary as never });
    expect(await stream.next()).toEqual({ done: true, value: summary });
    expect(prompts).toEqual([{ done: 1, total: 2 }]);
  });

  it("Model streams text in pieces of whole characters", async () => {
    const { worker, model } = make();
    const summaries: unknown[] = [];
    const stream = model.stream("p", { topK: 1, onSummary: (result) => summaries.push(result) });
    for (const text of ["a", "", "é"])
      worker.say({ type: "event", id: 1, event: { tokens: [{ ...token(1), text }] } });
    worker.say({ type: "done", id: 1, result: summary as never });
    const texts: string[] = [];
    for await (const text of stream) texts.push(text);
    expect(texts).toEqual(["a", "é"]);
    expect(summaries).toEqual([summary]);
    expect(worker.all("request")[0]?.args).toEqual({ prompt: "p", options: { topK: 1 }, ahead: 256 });
  });

  it("the text stream of a Model can be piped into a Response", async () => {
    const { worker, model } = make();
    const response = new Response(model.stream("p").pipeThrough(new TextEncoderStream()));
    worker.say({ type: "event", id: 1, event: { tokens: [{ ...token(1), text: "é" }] } });
    worker.say({ type: "done", id: 1, result: summary as never });
    expect(await response.text()).toBe("é");
  });

  it("the model does not run far ahead of its text stream", async () => {
    const { worker, model } = make();
    const reader = model.stream("p").getReader();
    for (let id = 0; id < 256; ++id) worker.say({ type: "event", id: 1, event: { tokens: [token(id)] } });
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(worker.all("read")).toEqual([]);
    for (let id = 0; id < 64; ++id) await reader.read();
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
    expect(() => model.stream("p", { n: 2 })).toThrow(
      refusal(
        "n is 2, but a stream is one text; use generate, whose tokens name their continuation",
      ) as never,
    );
  });

  it("Model reports the progress of scoring", async () => {
    const { worker, model } = make();
    const events: unknown[] = [];
    void model.score("t", { onProgress: (event) => events.push(event) });
    const event = { done: 1, total: 2, tokens: [{ id: 7, text: "t", logprob: null, rank: null }] };
    worker.say({ type: "event", id: 1, event });
    expect(events).toEqual([event]);
  });
});

describe("errors in callbacks", () => {
  const mine = new Error("mine");
  const call = () => {
    throw mine;
  };
  type Callback = () => unknown;
  const callbacks: Callback[] = [call, async () => Promise.reject(mine)];
  const prompt = { type: "event", id: 1, event: { prompt: { done: 1, total: 2 } } } as const;
  const progress = { type: "event", id: 1, event: { done: 1, total: 2 } } as const;
  const summary = { finishReasons: [], seed: 1 } as unknown as GenerateSummary;
  const done = { type: "done", id: 1, result: summary } as const;
  const calls: [string, (model: Model, callback: Callback) => Promise<unknown>, FromWorker][] = [
    ["complete's onPrompt", (model, onPrompt) => model.complete("t", { onPrompt }), prompt],
    ["generate's onPrompt", (model, onPrompt) => model.generate("t", { onPrompt }).next(), prompt],
    ["stream's onPrompt", (model, onPrompt) => model.stream("t", { onPrompt }).getReader().read(), prompt],
    ["complete's onSummary", (model, onSummary) => model.complete("t", { onSummary }), done],
    ["generate's onSummary", (model, onSummary) => model.generate("t", { onSummary }).next(), done],
    ["stream's onSummary", (model, onSummary) => model.stream("t", { onSummary }).getReader().read(), done],
    ["score's onProgress", (model, onProgress) => model.score("t", { onProgress }), progress],
    ["prefill's onProgress", (model, onProgress) => model.prefill("t", { onProgress }), progress],
    ["inspect's onProgress", (model, onProgress) => model.inspect("t", { onProgress }), progress],
  ];

  it.each(calls)(
    "an error thrown by a callback rejects its call and no other: %s",
    async (_, start, message) => {
      for (const callback of callbacks) {
        const { worker, model } = make();
        const failing = start(model, callback);
        worker.say(message);
        await expect(failing).rejects.toBe(mine);
        const next = model.detokenize([1]);
        worker.say({ type: "done", id: 2, result: "one" });
        expect(await next).toBe("one");
      }
    },
  );
});

describe("every call can be aborted", () => {
  const calls: [string, (model: Model, signal: AbortSignal) => Promise<unknown>][] = [
    ["tokenize", (model, signal) => model.tokenize("t", { signal })],
    ["detokenize", (model, signal) => model.detokenize([1], { signal })],
    ["score", (model, signal) => model.score("t", { signal })],
    ["complete", (model, signal) => model.complete("t", { signal })],
    ["generate", (model, signal) => model.generate("t", { signal }).next()],
    ["stream", (model, signal) => model.stream("t", { signal }).getReader().read()],
    ["prefill", (model, signal) => model.prefill("t", { signal })],
    ["inspect", (model, signal) => model.inspect("t", { signal })],
  ];
  it("every call of Model is in the list of calls that can be aborted", () => {
    const takeNone = ["constructor", "read", "fill", "explain", "dispose"];
    const names = Object.getOwnPropertyNames(Model.prototype).filter((name) => !takeNone.includes(name));
    expect(calls.map(([name]) => name).sort()).toEqual(names.sort());
  });

  it.each(calls)("an abort rejects the call: %s", async (_, call) => {
    const { worker, model } = make();
    const controller = new AbortController();
    const waiting = call(model, controller.signal);
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    expect(worker.received.map(({ type }) => type)).toEqual(["request", "cancel"]);
    await expect(call(model, AbortSignal.abort(new Error("before")))).rejects.toThrow("before");
    expect(worker.all("request").length).toBe(1);
  });
});

describe("garbage collection", () => {
  /** The registry must hold only the function that disposes of a model, and no reference to the model. */
  it("garbage collection disposes of an unreferenced model", async () => {
    const collect = (globalThis as { gc?: () => void }).gc;
    expect(collect, "tests run with --expose-gc").toBeDefined();
    const { worker, connection } = connect();
    let model: Model | undefined = new Model(connection, {} as ModelInfo);
    const busy = model.tokenize("t"); // keeps the model alive while it waits
    // eslint-disable-next-line no-useless-assignment -- it drops the last reference to the model
    model = undefined;
    for (let i = 0; i < 5; ++i) {
      collect?.();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(worker.all("end")).toEqual([]);
    worker.say({ type: "done", id: 1, result: [1] });
    await busy;
    await vi.waitFor(() => {
      collect?.();
      expect(worker.all("end").length).toBe(1);
    });
  });

  it("garbage collection disposes of a model whose generation is no longer read", async () => {
    const { worker, connection } = connect();
    await (async () => {
      const stream = new Model(connection, {} as ModelInfo).generate("p");
      const first = stream.next();
      worker.say({ type: "event", id: 1, event: { tokens: [token(1)] } });
      await first;
    })();
    await vi.waitFor(() => {
      (globalThis as { gc?: () => void }).gc?.();
      expect(worker.all("end").length).toBe(1);
    });
  });

  it("garbage collection does not dispose of a model whose generation is being read", async () => {
    const { worker, connection } = connect();
    const stream = new Model(connection, {} as ModelInfo).generate("p");
    const first = stream.next();
    for (let i = 0; i < 5; ++i) {
      (globalThis as { gc?: () => void }).gc?.();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(worker.all("end")).toEqual([]);
    worker.say({ type: "event", id: 1, event: { tokens: [token(1)] } });
    expect((await first).value).toEqual(token(1));
  });
});

describe("TokenQueue", () => {
  it("TokenQueue returns the waiting tokens before it ends", async () => {
    for (const fails of [false, true]) {
      const queue = new TokenQueue(() => {}, 64);
      queue.push(token(1));
      queue.push(token(2));
      if (fails) queue.fail(new Error("over"));
      else queue.finish();
      expect([await queue.next(), await queue.next()]).toEqual([token(1), token(2)]);
      if (fails) await expect(queue.next()).rejects.toThrow("over");
      else expect(await queue.next()).toBeUndefined();
    }
  });

  it("TokenQueue wakes a waiting reader for a token and for the end", async () => {
    const queue = new TokenQueue(() => {}, 64);
    const first = queue.next();
    queue.push(token(1));
    expect(await first).toEqual(token(1));
    const second = queue.next();
    queue.finish();
    expect(await second).toBeUndefined();
    const failing = new TokenQueue(() => {}, 64);
    const third = failing.next();
    failing.fail(new Error("over"));
    await expect(third).rejects.toThrow("over");
  });

  it("TokenQueue reports what was read, batch by batch", async () => {
    const read: number[] = [];
    const queue = new TokenQueue((tokens) => read.push(tokens), 2);
    for (let id = 0; id < 5; ++id) queue.push(token(id));
    const reports = [];
    for (let i = 0; i < 5; ++i) {
      await queue.next();
      reports.push(read.length);
    }
    expect(reports).toEqual([0, 1, 1, 2, 2]);
    expect(read).toEqual([2, 2]);
  });
});
