import { expect, it, vi } from "vitest";
import { LoadError } from "../../web/src/shared/errors.js";
import type { Variant } from "../../web/src/shared/types.js";
import type { ModuleFactory } from "../../web/src/model/wasm-instance.js";
import { findBuild, makeMemory, startEngine, type Build } from "../../web/src/worker/start-engine.js";

const code = new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));

const script = { createModule: "factory" as unknown as ModuleFactory, threadScript: "script.js" };
const unsupported = () => Promise.reject(new LoadError("unsupported", "no such instruction"));

const fetchable = (compiling: Variant) => {
  const asked: Variant[] = [];
  const fetch = async (variant: Variant) => {
    asked.push(variant);
    return variant === compiling ? { ...script, variant, code } : unsupported();
  };
  return { asked, fetch };
};

const noRelaxed = /^Running without relaxed SIMD: this browser cannot run/;
const oneThread = /^Running on one thread: this browser cannot run/;
it.each([
  ["threads-relaxed", "threads-relaxed", ["threads-relaxed"], null],
  ["threads-relaxed", "threads", ["threads-relaxed", "threads"], noRelaxed],
  ["threads-relaxed", "simd", ["threads-relaxed", "threads", "simd"], oneThread],
  ["simd-relaxed", "simd", ["simd-relaxed", "simd"], noRelaxed],
  ["threads", "simd", ["threads", "simd"], oneThread],
] as const)("for %s, findBuild takes %s", async (wanted, compiling, tried, notice) => {
  const { asked, fetch } = fetchable(compiling);
  const found = await findBuild(wanted, fetch);
  expect([found.build.variant, asked]).toEqual([compiling, tried]);
  if (notice) expect(found.notice).toMatch(notice);
  else expect(found.notice).toBeNull();
});

it("findBuild fails if no build compiles, and at once if the error is not the browser's", async () => {
  await expect(findBuild("threads-relaxed", unsupported)).rejects.toThrow("no such instruction");
  const asked: Variant[] = [];
  const broken = (variant: Variant) => {
    asked.push(variant);
    return Promise.reject(new LoadError("network", "broke"));
  };
  await expect(findBuild("threads-relaxed", broken)).rejects.toThrow("broke");
  expect(asked).toEqual(["threads-relaxed"]);
});

/** A browser that grants at most so many pages. */
function grant(most: number, asked: WebAssembly.MemoryDescriptor[], error: Error = new RangeError("no")) {
  class Memory {
    constructor(descriptor: WebAssembly.MemoryDescriptor) {
      asked.push(descriptor);
      if ((descriptor.maximum ?? 0) > most) throw error;
    }
  }
  vi.stubGlobal("WebAssembly", { Memory });
}

it.each([
  [1e9, true, 500, [500]],
  [1e9, false, 500, [500]],
  [100, true, 501, [501, 300, 200, 100]],
])("of %i pages, makeMemory gets the planned ones or fewer", (most, shared, maximum, tried) => {
  const asked: WebAssembly.MemoryDescriptor[] = [];
  grant(most, asked);
  makeMemory({ initial: 100, maximum }, shared);
  expect(asked).toEqual(tried.map((each) => ({ initial: 100, maximum: each, shared })));
});

it.each([
  [99, undefined, "out-of-memory", "this browser does not provide the 7 MB that the model needs", 4],
  [1, new TypeError("odd"), "worker-died", "the engine's worker failed (TypeError: odd)", 1],
])("if %i pages are granted, makeMemory fails: %s", (most, error, code, message, tries) => {
  const asked: WebAssembly.MemoryDescriptor[] = [];
  grant(most, asked, error);
  const run = () => makeMemory({ initial: 100, maximum: 500 }, true);
  expect(run).toThrow(expect.objectContaining({ code, message }) as Error);
  expect(asked.length).toBe(tries);
});

function build(variant: Variant, isExact: boolean, log: string[]): Build {
  const createModule = (async ({ wasmMemory }) => {
    log.push(`${variant} ${wasmMemory.buffer instanceof SharedArrayBuffer ? "shared" : "own"}`);
    return {
      _gpt2_create: (threads: number) => (log.push(`threads ${threads}`), 1),
      _gpt2_is_exact: () => Number(isExact),
      _gpt2_destroy: () => void log.push(`destroy ${variant}`),
    };
  }) as ModuleFactory;
  return { variant, createModule, threadScript: "script.js", code };
}
const plan = { initial: 1, maximum: 2 };
const nothing = async () => Promise.reject(new Error("fetched another"));
const noThread = () => {};

const first = (...of: Parameters<typeof build>) => ({ build: build(...of), notice: null });

it("startEngine starts the build that was found, with its notice", async () => {
  const log: string[] = [];
  const started = await startEngine(first("threads-relaxed", true, log), plan, 4, nothing, noThread);
  expect(started).toMatchObject({ variant: "threads-relaxed", notice: null });
  expect(log).toEqual(["threads-relaxed shared", "threads 4"]);
  const second = { build: build("simd", true, log), notice: "it is slow" };
  expect(await startEngine(second, plan, 4, nothing, noThread)).toMatchObject({ notice: "it is slow" });
  expect(log.slice(2)).toEqual(["simd own", "threads 1"]); // without threads there is one
});

it.each([
  ["threads-relaxed", "threads", "without relaxed SIMD"],
  ["simd-relaxed", "simd", "without relaxed SIMD"],
  ["threads", "simd", "on one thread"],
] as const)("startEngine replaces %s, whose results are wrong, by %s", async (variant, plain, how) => {
  const log: string[] = [];
  const fetchOther = async (other: Variant) => build(other, true, log);
  const started = await startEngine(first(variant, false, log), plan, 4, fetchOther, noThread);
  const notice = `Running ${how}: this browser computes wrong results with it.`;
  expect(started).toMatchObject({ variant: plain, notice });
  const steps = (name: string) =>
    name.startsWith("threads") ? [`${name} shared`, "threads 4"] : [`${name} own`, "threads 1"];
  expect(log).toEqual([...steps(variant), `destroy ${variant}`, ...steps(plain)]);
});

it("startEngine fails if every build computes wrong results", async () => {
  const log: string[] = [];
  const fetchOther = async (other: Variant) => build(other, false, log);
  const starting = startEngine(first("simd-relaxed", false, log), plan, 4, fetchOther, noThread);
  const message = "this browser computes wrong results with WebAssembly SIMD";
  await expect(starting).rejects.toMatchObject({ code: "unsupported", message });
  expect(log.at(-1)).toBe("destroy simd");
});
