// Runs a module linked by Emscripten. Emscripten's own script for it would be ten times as large, mostly for features
// that our modules do not use.
import type { ModuleFactory, ThreadStart } from "./wasm-instance.js";

/** The name of a worker that is a helper thread of the engine. */
export const threadName = "gpt2-thread";

type Exports = Record<string, (...values: number[]) => number>;

/** The imports of engine/format/wasm_libc.cc. */
function numbers() {
  let text = "";
  return {
    gpt2_number(character: number): number {
      text += character === 0 ? "" : String.fromCharCode(character);
      if (character !== 0) return 0;
      const number = Number(text);
      text = "";
      return number;
    },
    gpt2_number_text: (value: number, place: number): number => String(value).charCodeAt(place) | 0,
  };
}

const pageBytes = 65536;

/** Grows `memory` to at least `bytes`. First tries more, because each growth copies everything in some browsers. */
function grow(memory: WebAssembly.Memory, bytes: number): number {
  const now = memory.buffer.byteLength;
  const more = Math.min(now / 5, 96 * 1024 * 1024);
  for (const wanted of [Math.max(bytes, now + more), Math.max(bytes, now + more / 4), bytes]) {
    try {
      memory.grow(Math.ceil((wanted - now) / pageBytes));
      return 1;
    } catch {
      // Less may be possible.
    }
  }
  return 0;
}

function importsOf(
  memory: WebAssembly.Memory,
  startThread?: (place: Pick<ThreadStart, "stack" | "stackBytes" | "helper">) => void,
): WebAssembly.Imports {
  return {
    env: {
      memory,
      emscripten_resize_heap: (bytes: number) => grow(memory, bytes >>> 0),
      emscripten_get_now: () => performance.now(),
      _emscripten_get_now_is_monotonic: () => 1,
      _abort_js() {
        throw new WebAssembly.RuntimeError("abort");
      },
      gpt2_start_thread: (stack: number, stackBytes: number, helper: number) =>
        startThread?.({ stack: stack >>> 0, stackBytes, helper: helper >>> 0 }),
      ...numbers(),
    },
  };
}

/** Runs the module; `startThread` starts its helper threads. */
export const createModule: ModuleFactory = async ({ wasmMemory, instantiateWasm, startThread }) => {
  let code: WebAssembly.Module;
  const imports = importsOf(wasmMemory, (place) => startThread?.({ code, memory: wasmMemory, ...place }));
  const functions = instantiateWasm(imports, (instance, module) => {
    code = module;
    return instance.exports;
  }) as Exports;
  functions.__wasm_call_ctors?.();
  return Object.fromEntries(Object.entries(functions).map(([name, run]) => [`_${name}`, run]));
};

/** Runs a helper thread until its engine ends it. */
export function runThread({ code, memory, stack, stackBytes, helper }: ThreadStart): void {
  const functions = new WebAssembly.Instance(code, importsOf(memory)).exports as Exports;
  functions._emscripten_wasm_worker_initialize?.(stack, stackBytes);
  try {
    functions.gpt2_run_thread?.(helper);
  } catch (error) {
    functions.gpt2_thread_trapped?.(helper); // otherwise its engine would wait for it
    throw error;
  }
}
