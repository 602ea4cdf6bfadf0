import { expect, it } from "vitest";
import { Engine } from "../../web/src/worker/engine.js";
import type { ModuleFactory } from "../../web/src/shared/wasm-instance.js";

/** "\0asm" and the version: a module of nothing. */
const code = new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));

/** A module whose functions the test writes, with an allocator that only goes up. */
class FakeModule {
  readonly memory = new WebAssembly.Memory({ initial: 1 });
  readonly live = new Set<number>();
  readonly calls: string[] = [];
  private top = 1024;
  replies: Record<string, (...args: number[]) => number> = {};

  bytes(pointer: number, size: number): number[] {
    return [...new Uint8Array(this.memory.buffer, pointer, size)];
  }
  text(pointer: number, size: number): string {
    return new TextDecoder().decode(Uint8Array.from(this.bytes(pointer, size)));
  }
  reply(value: unknown): number {
    const bytes = new TextEncoder().encode(`${JSON.stringify(value)}\0`);
    new Uint8Array(this.memory.buffer, 32, bytes.length).set(bytes);
    return 32;
  }
  readonly factory: ModuleFactory = async ({ wasmMemory, instantiateWasm }) => {
    expect(wasmMemory).toBe(this.memory);
    instantiateWasm({}, (instance, module) => {
      expect(instance).toBeInstanceOf(WebAssembly.Instance);
      expect(module).toBe(code);
      return instance.exports;
    });
    const defaults: Record<string, (...args: number[]) => number> = {
      _gpt2_allocate: (size = 0) => {
        const pointer = this.top;
        this.top += size;
        this.live.add(pointer);
        return pointer;
      },
      _gpt2_free: (pointer = 0) => Number(this.live.delete(pointer)),
      _gpt2_create: () => 7,
    };
    return new Proxy(
      {},
      {
        get: (_, name: string) => {
          if (name === "then") return undefined;
          return (...args: number[]) => {
            this.calls.push(name);
            return (this.replies[name] ?? defaults[name] ?? (() => this.reply({ result: {} })))(...args);
          };
        },
      },
    );
  };
}

async function create(replies: FakeModule["replies"] = {}): Promise<{ engine: Engine; module: FakeModule }> {
  const module = new FakeModule();
  module.replies = replies;
  return { engine: await Engine.create(module.factory, code, module.memory, 3), module };
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
  const { memory } = new FakeModule();
  const link: ModuleFactory = async () => Promise.reject(new WebAssembly.LinkError("env.x"));
  await expect(Engine.create(link, code, memory, 1)).rejects.toMatchObject({ code: "unsupported" });
});

it("the engine object passes on the engine's errors with their code, and continues", async () => {
  const { engine, module } = await create();
  const error = { code: "corrupt", message: "tensor h.0" };
  module.replies = { _gpt2_step: () => module.reply({ error }) };
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
  const { engine } = await create(Object.fromEntries(record) as FakeModule["replies"]);
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
  const { engine, module } = await create();
  module.replies = { _gpt2_allocate: () => 0 };
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
  const { engine, module } = await create({ _gpt2_step: () => 0, _gpt2_output: () => 256 });
  putWords(module.memory, 256, [512, 5, 768, text.length, 5, 6, 1]);
  putWords(module.memory, 512, [
    ...[2, 7, -0.5, 3, 2, 4, 1], // index, id, logprob, UTF-16 units of text, alternatives, rank, healed
    ...[2, 8, -1.5, 1, 0, 0, 0],
    ...[2, 9, NaN, 0, 0, 0, 0],
    ...[0, 11, -3.5, 0, 0, 9, 2],
    ...[0, 50256, -2.5, 1, 0, 50257, 0],
  ]);
  new Uint8Array(module.memory.buffer, 768).set(text);
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
  putWords(module.memory, 256, [0, 0, 0, 0, 1, 6, 0]);
  expect(engine.output()).toEqual({ tokens: [], done: 1, total: 6, isDone: false });
});

it("the engine object copies bytes in and frees them, also after an error", async () => {
  const { engine, module } = await create();
  let seen: number[] = [];
  module.replies = {
    _gpt2_load_weights: (_, pointer = 0, size = 0) => {
      seen = module.bytes(pointer, size);
      return module.reply({ error: { code: "corrupt", message: "no" } });
    },
  };
  expect(() => engine.loadWeights(Uint8Array.of(1, 2, 3))).toThrow("no");
  expect(seen).toEqual([1, 2, 3]);
  expect(module.live.size).toBe(0);
});

it("an engine that trapped is never called again, not even to free its arguments", async () => {
  const { engine, module } = await create({ _gpt2_load_weights: trap });
  const message = "the engine failed (unreachable)";
  const first = expect.objectContaining({ code: "worker-died", message }) as Error;
  expect(() => engine.loadWeights(Uint8Array.of(1))).toThrow(first);
  expect(module.calls.at(-1)).toBe("_gpt2_load_weights");
  const calls = module.calls.length;
  const later = { code: "worker-died", message: `${message}; the model must be loaded again` };
  const after = expect.objectContaining(later) as Error;
  expect(() => engine.call("_gpt2_summary")).toThrow(after);
  expect(() => engine.loadWeights(Uint8Array.of(1))).toThrow(after);
  expect(() => engine.resume(1)).toThrow(after);
  expect(() => engine.startedThreads).toThrow(after);
  engine.destroy();
  expect(module.calls.length).toBe(calls);
});

it("a destroyed engine says so, and is destroyed only once", async () => {
  const { engine, module } = await create();
  engine.destroy();
  engine.destroy();
  expect(module.calls.filter((name) => name === "_gpt2_destroy").length).toBe(1);
  expect(() => engine.step("_gpt2_step")).toThrow(expect.objectContaining({ code: "disposed" }));
});

it("token ids must be whole numbers from 0 on; an error names the first other value", async () => {
  const given: number[] = [];
  const { engine, module } = await create({
    _gpt2_detokenize: (_engine = 0, ids = 0, count = 0) => {
      given.push(...new Int32Array(module.memory.buffer, ids, count));
      return module.reply({ result: "text" });
    },
  });
  engine.detokenize([0, 5, 0x7fffffff]);
  expect(given).toEqual([0, 5, 0x7fffffff]);
  for (const bad of [1.5, -1, NaN, 0x80000000]) {
    expect(() => engine.detokenize([3, bad, -7])).toThrow(
      `token id ${bad} is not a whole number of at least 0`,
    );
  }
  expect(given).toHaveLength(3);
  expect(module.live.size).toBe(0);
});
