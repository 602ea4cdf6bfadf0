// The imports of a module that Emscripten has linked.
import { expect, it, vi } from "vitest";
import type { ThreadStart } from "../../web/src/model/wasm-instance.js";
import { createModule, runThread } from "../../web/src/model/wasm-module.js";

type Functions = Record<string, (...values: number[]) => number>;

/** A module without code, whose instance exports `functions`. Returns the imports that it received. */
async function create(functions: Functions, memory: WebAssembly.Memory, startThread = () => {}) {
  let env: Functions = {};
  const code = new WebAssembly.Module(Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]));
  const module = await createModule({
    wasmMemory: memory,
    startThread,
    instantiateWasm: (imports, receive) => {
      env = imports.env as Functions;
      return receive({ exports: functions }, code);
    },
  });
  return { module: module as Functions, env, code };
}

const megabyte = 1024 * 1024;
const memoryOf = (maximum: number) =>
  new WebAssembly.Memory({ initial: (10 * megabyte) / 65536, maximum: maximum / 65536 });

it("a module exports each function with a leading underscore, after the constructors have run", async () => {
  const calls: string[] = [];
  const { module } = await create(
    { __wasm_call_ctors: () => calls.push("constructors"), gpt2_step: () => calls.push("step") },
    memoryOf(10 * megabyte),
  );
  module._gpt2_step?.();
  expect(calls).toEqual(["constructors", "step"]);
});

it.each([
  ["a fifth more than it was", 100, 11, 12],
  ["what is asked for, where that is more", 100, 20, 20],
  ["a little more where the fifth is not available", 11, 10.25, 10.5],
  ["no more than there can be", 10.25, 10.25, 10.25],
  ["nothing where there is not enough", 10.25, 11, 10],
])("a module grows its memory by %s", async (_, most, wanted, grown) => {
  const memory = memoryOf(most * megabyte);
  const { env } = await create({}, memory);
  expect(env.emscripten_resize_heap?.(wanted * megabyte)).toBe(grown < wanted ? 0 : 1);
  expect(memory.buffer.byteLength).toBe(grown * megabyte);
});

it("a module reads and writes numbers one character at a time", async () => {
  const { env } = await create({}, memoryOf(10 * megabyte));
  const read = (text: string) => {
    for (const character of text) env.gpt2_number?.(character.charCodeAt(0));
    return env.gpt2_number?.(0);
  };
  expect([read("0.1"), read("-12e3"), read("")]).toEqual([0.1, -12000, 0]);
  const written = Array.from({ length: 5 }, (_, place) => env.gpt2_number_text?.(-0.25, place));
  expect(String.fromCharCode(...written.map(Number))).toBe("-0.25");
  expect(env.gpt2_number_text?.(-0.25, 5)).toBe(0);
});

it("a module passes a thread its start values; addresses may lie above 2 GiB", async () => {
  const memory = memoryOf(10 * megabyte);
  const startThread = vi.fn<(start?: ThreadStart) => void>();
  const { env, code } = await create({}, memory, startThread);
  env.gpt2_start_thread?.(-65536, 1024, -64);
  const addresses = { stack: 2 ** 32 - 65536, stackBytes: 1024, helper: 2 ** 32 - 64 };
  expect(startThread.mock.calls).toEqual([[{ code, memory, ...addresses }]]);
});

it("a thread that traps ends and notifies its engine", () => {
  const calls: unknown[][] = [];
  const trap = new WebAssembly.RuntimeError("unreachable");
  const exports = {
    _emscripten_wasm_worker_initialize: (...values: number[]) => calls.push(["stack", ...values]),
    gpt2_run_thread(helper: number) {
      calls.push(["run", helper]);
      throw trap;
    },
    gpt2_thread_trapped: (helper: number) => calls.push(["trapped", helper]),
  };
  vi.spyOn(WebAssembly, "Instance").mockImplementation(function () {
    return { exports } as unknown as WebAssembly.Instance;
  });
  const start = { memory: memoryOf(10 * megabyte), stack: 64, stackBytes: 32, helper: 96 } as ThreadStart;
  expect(() => runThread(start)).toThrow(trap);
  expect(calls).toEqual([
    ["stack", 64, 32],
    ["run", 96],
    ["trapped", 96],
  ]);
});
