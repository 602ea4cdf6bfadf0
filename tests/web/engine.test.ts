import { expect, it } from "vitest";
import { Engine } from "../../web/src/worker/engine.js";
import type { ModuleFactory } from "../../web/src/model/wasm-instance.js";

/** "\0asm" and the version: a module of nothing. */
const code = new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));

type Functions = Record<string, (...args: number[]) => number>;
const memoryOf = () => new WebAssembly.Memory({ initial: 1 });

/** Puts the JSON of `value` into `memory`, and returns its address. */
function reply(memory: WebAssembly.Memory, value: unknown): number {
  const bytes = new TextEncoder().encode(`${JSON.stringify(value)}\0`);
  new Uint8Array(memory.buffer, 32, bytes.length).set(bytes);
  return 32;
}

/** An engine of `functions`, with an allocator that never uses an address again. Every other function returns {}. */
async function create(functions: Functions = {}, memory = memoryOf()) {
  const live = new Set<number>();
  const calls: string[] = [];
  let top = 1024;
  const defaults: Functions = {
    _gpt2_allocate(size = 0) {
      const pointer = top;
      live.add(pointer);
      top += size;
      return pointer;
    },
    _gpt2_free: (pointer = 0) => Number(live.delete(pointer)),
    _gpt2_create: () => 7,
  };
  const get = (_: object, name: string) => {
    if (name === "then") return undefined;
    return (...args: number[]) => {
      calls.push(name);
      return (functions[name] ?? defaults[name] ?? (() => reply(memory, { result: {} })))(...args);
    };
  };
  const factory: ModuleFactory = async ({ wasmMemory, instantiateWasm }) => {
    expect(wasmMemory).toBe(memory);
    instantiateWasm({}, (instance, module) => {
      expect(instance).toBeInstanceOf(WebAssembly.Instance);
      expect(module).toBe(code);
      return instance.exports;
    });
    return new Proxy({}, { get });
  };
  return { engine: await Engine.create(factory, code, memory, 3), memory, live, calls };
}
const trap = () => {
  throw new WebAssembly.RuntimeError("unreachable");
};

it.each([
  [() => 0, "out-of-memory"],
  [trap, "worker-died"],
])("creating the engine object fails if memory is missing or the engine traps", async (reply, code) => {
  await expect(create({ _gpt2_create: reply })).rejects.toMatchObject({ code });
});

it("the engine object classifies what its script throws", async () => {
  const link: ModuleFactory = async () => Promise.reject(new WebAssembly.LinkError("env.x"));
  await expect(Engine.create(link, code, memoryOf(), 1)).rejects.toMatchObject({ code: "unsupported" });
});

it("the engine object passes on the engine's errors with their code, and continues", async () => {
  const memory = memoryOf();
  const error = { code: "corrupt", message: "tensor h.0" };
  const { engine } = await create({ _gpt2_step: () => reply(memory, { error }) }, memory);
  expect(() => engine.step("_gpt2_step")).toThrow(expect.objectContaining(error));
  expect(engine.call("_gpt2_summary")).toEqual({});
});

it("the engine object passes numbers and suspended generations to the engine", async () => {
  const seen: [string, number[]][] = [];
  const answers = { create: 7, is_exact: 1, started_threads: 2 };
  const silent = { drop_unstarted_threads: 0, resume: 0, discard: 0, destroy: 0 };
  const record = Object.entries({ ...answers, ...silent }).map(([name, answer]) => [
    `_gpt2_${name}`,
    (...args: number[]) => (seen.push([name, args]), answer),
  ]);
  const { engine } = await create(Object.fromEntries(record) as Functions);
  expect([engine.isExact, engine.startedThreads, engine.memoryBytes]).toEqual([true, 2, 65536]);
  engine.dropUnstartedThreads();
  engine.resume(4);
  engine.discard(5);
  engine.destroy();
  expect(seen).toEqual([
    ["create", [3]],
    ["is_exact", []],
    ["started_threads", [7]],
    ["drop_unstarted_threads", [7]],
    ["resume", [7, 4]],
    ["discard", [7, 5]],
    ["destroy", [7]],
  ]);
});

it("the engine object reports which request ran out of memory", async () => {
  const { engine } = await create({ _gpt2_allocate: () => 0 });
  expect(() => engine.loadWeights(new Uint8Array(5))).toThrow(
    expect.objectContaining({ code: "out-of-memory", message: "no memory for 5 bytes" }),
  );
});

it("a tokenizer of another module encodes a prompt without the tokens after a text", async () => {
  const { engine } = await create();
  const ends: unknown[] = [];
  const encode = (_text: string, _special: boolean, end: string) => (ends.push(end), []);
  engine.useTokenizer({ encode } as never);
  engine.tokenize("a", { isPrompt: true });
  engine.tokenize("a", { allowSpecial: true });
  expect(ends).toEqual(["beginning", "both"]);
});

/** Puts words, floats where they are no whole numbers, at `pointer`. */
function putWords(memory: WebAssembly.Memory, pointer: number, words: number[]): void {
  const view = new DataView(memory.buffer);
  words.forEach((word, i) => {
    if (Number.isInteger(word)) view.setUint32(pointer + 4 * i, word, true);
    else view.setFloat32(pointer + 4 * i, word, true);
  });
}

it("the engine object reads the result of a step", async () => {
  const text = new TextEncoder().encode("\u{feff}€😀é");
  const { engine, memory } = await create({ _gpt2_step: () => 0, _gpt2_output: () => 256 });
  putWords(memory, 256, [512, 5, 768, text.length, 5, 6, 1]);
  putWords(memory, 512, [
    ...[2, 7, -0.5, 3, 2, 4, 1], // index, id, logprob, UTF-16 units of text, alternatives, rank, healed
    ...[2, 8, -1.5, 1, 0, 0, 0],
    ...[2, 9, NaN, 0, 0, 0, 0],
    ...[0, 11, -3.5, 0, 0, 9, 2],
    ...[0, 50256, -2.5, 1, 0, 50257, 0],
  ]);
  new Uint8Array(memory.buffer, 768).set(text);
  const expected = {
    tokens: [
      {
        index: 2,
        id: 7,
        text: "\u{feff}€\ud83d",
        logprob: -0.5,
        rank: 4,
        healed: "some",
        top: [
          { id: 8, text: "\ude00", logprob: -1.5 },
          { id: 9, text: "", logprob: NaN },
        ],
      },
      { index: 0, id: 11, text: "", logprob: -3.5, rank: 9, healed: "all" },
      { index: 0, id: 50256, text: "é", logprob: -2.5, rank: 50257 },
    ],
    done: 5,
    total: 6,
    isDone: true,
  };
  expect(engine.step("_gpt2_step")).toEqual(expected);
  expect(engine.output()).toEqual(expected);
  putWords(memory, 256, [0, 0, 0, 0, 1, 6, 0]);
  expect(engine.output()).toEqual({ tokens: [], done: 1, total: 6, isDone: false });
});

it("the engine object copies bytes in and frees them, also after an error", async () => {
  const memory = memoryOf();
  let seen: number[] = [];
  const refuse = (_: number, pointer = 0, size = 0) => {
    seen = [...new Uint8Array(memory.buffer, pointer, size)];
    return reply(memory, { error: { code: "corrupt", message: "no" } });
  };
  const { engine, live } = await create({ _gpt2_load_weights: refuse }, memory);
  expect(() => engine.loadWeights(Uint8Array.of(1, 2, 3))).toThrow("no");
  expect(seen).toEqual([1, 2, 3]);
  expect(live.size).toBe(0);
});

it("an engine that trapped is never called again, not even to free its arguments", async () => {
  const { engine, calls } = await create({ _gpt2_load_weights: trap });
  const message = "the engine failed (unreachable)";
  const first = expect.objectContaining({ code: "worker-died", message }) as Error;
  expect(() => engine.loadWeights(Uint8Array.of(1))).toThrow(first);
  expect(calls.at(-1)).toBe("_gpt2_load_weights");
  const { length } = calls;
  const later = { code: "worker-died", message: `${message}; the model must be loaded again` };
  const after = expect.objectContaining(later) as Error;
  expect(() => engine.call("_gpt2_summary")).toThrow(after);
  expect(() => engine.loadWeights(Uint8Array.of(1))).toThrow(after);
  expect(() => engine.resume(1)).toThrow(after);
  expect(() => engine.startedThreads).toThrow(after);
  engine.destroy();
  expect(calls).toHaveLength(length);
});

it("a destroyed engine says so, and is destroyed only once", async () => {
  const { engine, calls } = await create();
  engine.destroy();
  engine.destroy();
  expect(calls.filter((name) => name === "_gpt2_destroy").length).toBe(1);
  expect(() => engine.step("_gpt2_step")).toThrow(expect.objectContaining({ code: "disposed" }));
});

it("token ids must be whole numbers from 0 on; an error names the first other value", async () => {
  const given: number[] = [];
  const memory = memoryOf();
  const detokenize = (_: number, ids = 0, count = 0) => {
    given.push(...new Int32Array(memory.buffer, ids, count));
    return reply(memory, { result: "text" });
  };
  const { engine, live } = await create({ _gpt2_detokenize: detokenize }, memory);
  engine.detokenize([0, 5, 0x7fffffff]);
  expect(given).toEqual([0, 5, 0x7fffffff]);
  for (const bad of [1.5, -1, NaN, 0x80000000]) {
    expect(() => engine.detokenize([3, bad, -7])).toThrow(
      `token id ${bad} is not a whole number of at least 0`,
    );
  }
  expect(given).toHaveLength(3);
  expect(live.size).toBe(0);
});
