// Starts a build of the engine: fetches its script and code, and allocates its memory.
import type { RetryOptions } from "../model/sources/steady-fetch.js";
import { Gpt2Error, LoadError } from "../shared/errors.js";
import { failureOf } from "../shared/failures.js";
import type { Variant } from "../shared/types.js";
import { Engine } from "./engine.js";
import type { ModuleFactory, ThreadStart } from "../model/wasm-instance.js";
import type { MemoryPlan } from "./memory-plan.js";

/** The script of a build. */
export interface EngineScript {
  createModule: ModuleFactory;
  /** The script for helper threads: the same one, at an address from which this worker may start workers. */
  threadScript: string;
}

/**
 * Where the builds come from. UrlBuilds has files beside the worker. A page in one file has them in memory, and imports
 * the scripts as blobs, whose addresses are the `threadScript`s.
 */
export interface BuildSource {
  /** Runs the script of a build. Throws a LoadError that names the file if it is not available or fails. */
  importScript(variant: Variant, signal: AbortSignal, patience: RetryOptions): Promise<EngineScript>;
  /** The code of a build. Throws a LoadError that names the file if it is not available or does not compile. */
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

/**
 * The build to use in place of one that does not compile or gives wrong results in this browser, and the notice about
 * it.
 */
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

/** A build, and why it is not the requested one; null if it is. */
export interface FoundBuild {
  build: Build;
  notice: string | null;
}

/** The requested build, or the next one that this browser compiles. */
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
  /** Why it is not the requested build; null if it is. */
  notice: string | null;
}

/** Starts the engine. If this browser gives wrong results with a build, starts the next one. */
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
