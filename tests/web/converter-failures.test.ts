// Failures of the WebAssembly module during a conversion.
import { expect, it, vi } from "vitest";
import { chunksOf } from "../../web/src/model/sources/model-source.js";
import { failureOf } from "../../web/src/shared/failures.js";
import type { ModuleFactory } from "../../web/src/model/wasm-instance.js";
import { createModule } from "../../web/src/model/wasm-module.js";
import { code, configOf, hubFile } from "./support/convert.js";
import { MemorySource } from "./support/memory-source.js";

const { signal } = new AbortController();

type Exports = Record<string, (...args: number[]) => number>;
/** What a function of the module does instead. */
type Fault = (exports: Exports, args: number[]) => number;

const trap: Fault = () => {
  throw new WebAssembly.RuntimeError("unreachable");
};
const nothing: Fault = () => 0;
const takeAllMemory: Fault = ({ _gpt2_allocate: allocate, _gpt2_converter_feed: take }, args) => {
  for (const bytes of [1 << 20, 1 << 12, 64]) while (allocate?.(bytes));
  return take?.(...args) ?? 0;
};

/** Replaces the function `name` by `fault` after `good` calls. */
const spoiled =
  (name: string, good: number, fault: Fault): ModuleFactory =>
  async (options) => {
    const exports = (await createModule(options)) as Exports;
    let calls = 0;
    const spoil = (...args: number[]) => {
      calls += 1;
      return calls > good ? fault(exports, args) : (exports[name]?.(...args) ?? 0);
    };
    return { ...exports, [name]: spoil };
  };

const trapped = ["worker-died", /^the engine failed \(unreachable\)/] as const;
const full = "out-of-memory";
it.each([
  ["a trap in the header", "_gpt2_converter_feed", 0, trap, ...trapped],
  ["a trap in the weights", "_gpt2_converter_feed", 1, trap, ...trapped],
  ["a trap at the end", "_gpt2_converter_end", 0, trap, ...trapped],
  ["no converter", "_gpt2_converter_create", 0, nothing, full, /^no memory for a converter$/],
  ["no memory for the input", "_gpt2_allocate", 0, nothing, full, /^no memory for \d+ bytes$/],
  ["no memory in the header", "_gpt2_converter_feed", 0, takeAllMemory, full, /memory/],
  ["no memory in the weights", "_gpt2_converter_feed", 1, takeAllMemory, full, /memory/],
] as const)("%s keeps its code", async (_, name, good, fault, errorCode, message) => {
  vi.resetModules(); // as in the worker, where the converter's chunk has its own copies of the classes
  const { ConvertedSource } = await import("../../web/src/model/convert/converted-source.js");
  const { Converter } = await import("../../web/src/model/convert/converter.js");
  const { Memory } = WebAssembly;
  class SmallMemory extends Memory {
    constructor(descriptor: WebAssembly.MemoryDescriptor) {
      super({ ...descriptor, maximum: 256 }); // pages: 16 MiB
    }
  }
  Object.assign(WebAssembly, { Memory: SmallMemory });
  try {
    const inner = new MemorySource({ "config.json": configOf(), "model.safetensors": hubFile() });
    const createConverter = () => Converter.create(code, spoiled(name, good, fault));
    const source = new ConvertedSource(inner, { weights: "q8", createConverter });
    const read = async () => {
      const file = await source.open("model.safetensors", { signal });
      for await (const _ of chunksOf(file, "model.safetensors", signal));
    };
    const failure = failureOf(await read().catch((error: unknown) => error));
    expect(failure).toMatchObject({ code: errorCode, message: expect.stringMatching(message) as string });
  } finally {
    Object.assign(WebAssembly, { Memory });
  }
});
