// Brings up a build of the engine: fetches its script and its code, and makes its memory.
import type { RetryOptions } from "../loader/steady-fetch.js";
import { Gpt2Error, LoadError } from "../shared/errors.js";
import { failureOf } from "../shared/failures.js";
import type { Variant } from "../shared/types.js";
import { Engine } from "./engine.js";
import type { ModuleFactory, ThreadStart } from "../shared/wasm-instance.js";
import type { MemoryPlan } from "./memory-plan.js";

/** The script of a build. */
export interface EngineScript {
  createModule: ModuleFactory;
  /** What helper threads are started from: the same script, at an address that this worker may start workers from. */
  threadScript: string;
}

/**
 * Where the builds come from. UrlBuilds has files beside the worker. A page in one file has them in memory, and imports
 * the scripts as blobs, whose addresses are the `threadScript`s.
 */
export interface BuildSource {
  /** Runs the script of a build. Throws a LoadError that names the file where it cannot be had or run. */
  importScript(variant: Variant, signal: AbortSignal, patience: RetryOptions): Promise<EngineScript>;
  /** The code of a build. Throws a LoadError that names the file where it cannot be had or compiled. */
  compile(variant: Variant, signal: AbortSignal, patience: RetryOptions): Promise<WebAssembly.Module>;
}

export interface Build extends EngineScript {
  variant: Variant;
  code: WebAssembly.Module;
}

export async function fetchBuild(
  source: BuildSource,
  variant: Variant,
  signal: AbortSignal,
  patience: RetryOptions,
): Promise<Build> {
  const [script, code] = await Promise.all([
    source.importScript(variant, signal, patience),
    source.compile(variant, signal, patience),
  ]);
  return { variant, ...script, code };
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
  throw new Gpt2Error(
    "out-of-memory",
    `this browser does not provide the ${megabytes} MB that the model needs`,
  );
}

/** What to run instead of a build that this browser does not compile, or that gives wrong results in it, and what to say. */
function instead(variant: Variant, fault: string): { variant: Variant; notice: string } | undefined {
  switch (variant) {
    case "threads-relaxed":
      return { variant: "threads", notice: `Running without relaxed SIMD: ${fault}.` };
    case "simd-relaxed":
      return { variant: "simd", notice: `Running without relaxed SIMD: ${fault}.` };
    case "threads":
      return { variant: "simd", notice: `Running on one thread: ${fault}.` };
    case "simd":
      return undefined;
  }
}

type Fetch = (variant: Variant) => Promise<Build>;

/** A build, and why it is not the one that was asked for; null if it is. */
export interface FoundBuild {
  build: Build;
  notice: string | null;
}

/** The build that was asked for, or the next one that this browser compiles. */
export async function findBuild(variant: Variant, fetch: Fetch): Promise<FoundBuild> {
  try {
    return { build: await fetch(variant), notice: null };
  } catch (error) {
    const next = instead(variant, "this browser cannot run the faster build");
    if (!next || !(error instanceof LoadError && error.code === "unsupported")) throw error;
    const found = await findBuild(next.variant, fetch);
    return { build: found.build, notice: found.notice ?? next.notice };
  }
}

export interface StartedEngine {
  engine: Engine;
  variant: Variant;
  /** Why it is not the build that was asked for; null if it is. */
  notice: string | null;
}

/** Starts the engine; where this browser gives wrong results with it, the next build. */
export async function startEngine(
  { build, notice }: FoundBuild,
  plan: MemoryPlan,
  threads: number,
  fetch: Fetch,
  startThread: (script: string, start: ThreadStart) => void,
): Promise<StartedEngine> {
  const { variant, createModule, code, threadScript } = build;
  const hasThreads = variant.startsWith("threads");
  const engine = await Engine.create(
    createModule,
    code,
    makeMemory(plan, hasThreads),
    hasThreads ? threads : 1,
    (start) => startThread(threadScript, start),
  );
  if (engine.isExact) return { engine, variant, notice };
  engine.destroy();
  const next = instead(variant, "this browser computes wrong results with it");
  if (!next) throw new LoadError("unsupported", "this browser computes wrong results with WebAssembly SIMD");
  const { build: other } = await findBuild(next.variant, fetch);
  return startEngine({ build: other, notice: next.notice }, plan, threads, fetch, startThread);
}
