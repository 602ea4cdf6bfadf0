// Brings up a build of the engine: fetches its script and its code, and makes its memory.
import type { ModelSource } from "../loader/model-source.js";
import { Gpt2Error, LoadError } from "../shared/errors.js";
import { failureOf } from "../shared/failures.js";
import type { Variant } from "../shared/types.js";
import { Engine, type EngineFactory } from "./engine.js";
import type { MemoryPlan } from "./memory-plan.js";

/** Where the builds lie. */
export interface BuildSource extends ModelSource {
  /** Runs a script as a module. */
  importModule(name: string): Promise<unknown>;
  /** The code of a build. Throws a LoadError that names the file where it cannot be had. */
  compile(name: string, signal: AbortSignal): Promise<WebAssembly.Module>;
}

export interface Build {
  variant: Variant;
  createModule: EngineFactory;
  code: WebAssembly.Module;
}

async function importFactory(source: BuildSource, name: string, signal: AbortSignal): Promise<EngineFactory> {
  let reason: unknown;
  try {
    const module = (await source.importModule(name)) as { default: EngineFactory };
    return module.default;
  } catch (error) {
    reason = error;
  }
  // A browser does not say why: the file's own answer does, where it is at fault.
  const file = await source.open(name, signal);
  await file.stream.cancel();
  throw new LoadError("unsupported", `${name} is there, but cannot be run: ${failureOf(reason).message}`);
}

export async function fetchBuild(source: BuildSource, variant: Variant, signal: AbortSignal): Promise<Build> {
  const [createModule, code] = await Promise.all([
    importFactory(source, `engine/gpt2-${variant}.mjs`, signal),
    source.compile(`engine/gpt2-${variant}.wasm`, signal),
  ]);
  return { variant, createModule, code };
}

/** Memory with as much of the planned room to grow as the browser grants. */
export function makeMemory({ initial, maximum }: MemoryPlan, shared: boolean): WebAssembly.Memory {
  for (const room of [1, 1 / 2, 1 / 4, 0]) {
    try {
      const most = initial + Math.floor((maximum - initial) * room);
      return new WebAssembly.Memory({ initial, maximum: most, shared });
    } catch (error) {
      if (!(error instanceof RangeError)) throw failureOf(error);
    }
  }
  const megabytes = Math.ceil(initial / 16); // pages of 64 KiB
  throw new Gpt2Error("out-of-memory", `this browser does not give the ${megabytes} MB that the model needs`);
}

export interface StartedEngine {
  engine: Engine;
  variant: Variant;
  /** Why it is not the build that was asked for; null if it is. */
  notice: string | null;
}

/** Starts the engine, without relaxed SIMD where this browser's gives wrong results. */
export async function startEngine(
  build: Build,
  plan: MemoryPlan,
  threads: number,
  fetchOther: (variant: Variant) => Promise<Build>,
): Promise<StartedEngine> {
  const { variant, createModule, code } = build;
  const hasThreads = variant.startsWith("threads");
  const engine = await Engine.create(createModule, code, makeMemory(plan, hasThreads), threads);
  if (engine.isExact) return { engine, variant, notice: null };
  engine.destroy();
  if (!variant.endsWith("relaxed")) {
    throw new LoadError("unsupported", "this browser computes wrong results with WebAssembly SIMD");
  }
  const plain = await fetchOther(hasThreads ? "threads" : "simd");
  const started = await startEngine(plain, plan, threads, fetchOther);
  return { ...started, notice: "Running without relaxed SIMD: this browser's gives wrong results." };
}
