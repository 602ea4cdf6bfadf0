// Brings a model up: picks the engine's build, makes its memory, streams the weights in.
import { loadPieces, loadPlainFile, type WeightSink } from "../loader/load-weights.js";
import { readOptionalText, readText, UrlSource, type ModelSource } from "../loader/model-source.js";
import { parseWeightsIndex, type WeightsIndex } from "../loader/weights-index.js";
import { LoadError } from "../shared/errors.js";
import type { LoadRequest, LoadResult } from "../shared/protocol.js";
import type { LoadProgress, ModelInfo, Variant } from "../shared/types.js";
import { Engine, toHex, type EngineFactory } from "./engine.js";
import { planMemory, type MemoryPlan } from "./memory-plan.js";
import { chooseThreads, chooseVariant, detectFeatures } from "./variants.js";

const weightsFile = "model.safetensors";
/** Assumed of a plain file until the host says its size. */
const unknownSize = 512 * 1024 * 1024;

async function importEngine(variant: Variant): Promise<EngineFactory> {
  const workerUrl = import.meta.url; // a variable, so that the bundler leaves the URL alone
  const url = new URL(`engine/gpt2-${variant}.mjs`, workerUrl).href;
  const module = (await import(/* @vite-ignore */ url)) as { default: EngineFactory };
  return module.default;
}

function parseConfig(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new LoadError("corrupt", `config.json is not valid JSON: ${String(error)}`);
  }
}

async function readIndex(source: ModelSource, signal: AbortSignal): Promise<WeightsIndex | undefined> {
  const text = await readOptionalText(source, "weights.json", signal);
  return text === "" ? undefined : parseWeightsIndex(text);
}

function makeSink(engine: Engine, onBytes: (loaded: number) => void): WeightSink {
  return {
    take: (bytes) => engine.loadWeights(bytes),
    hash: async (bytes) =>
      // Pages that are not served securely have no crypto.subtle.
      globalThis.crypto?.subtle
        ? toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)))
        : engine.sha256(bytes),
    onBytes,
  };
}

interface StartedEngine {
  engine: Engine;
  variant: Variant;
  /** Why it is not the build that was asked for; null if it is. */
  notice: string | null;
}

/** Starts the engine, without relaxed SIMD where this browser's gives wrong results. */
async function startEngine(
  factory: EngineFactory,
  variant: Variant,
  plan: MemoryPlan,
  threads: number,
): Promise<StartedEngine> {
  const memory = new WebAssembly.Memory({ ...plan, shared: variant.startsWith("threads") });
  const engine = await Engine.create(factory, memory, threads);
  if (engine.isExact) return { engine, variant, notice: null };
  const plain: Variant = variant.startsWith("threads") ? "threads" : "simd";
  const started = await startEngine(await importEngine(plain), plain, plan, threads);
  return { ...started, notice: "Running without relaxed SIMD: this browser's gives wrong results." };
}

export interface LoadedEngine extends LoadResult {
  engine: Engine;
}

export async function loadEngine(
  request: LoadRequest,
  signal: AbortSignal,
  onProgress: (progress: LoadProgress) => void,
): Promise<LoadedEngine> {
  onProgress({ stage: "engine", loadedBytes: 0, totalBytes: 0 });
  const chosen = chooseVariant(await detectFeatures(), request.variant);
  const source = new UrlSource(request.folder);
  const [factory, configText, vocab, merges, index] = await Promise.all([
    importEngine(chosen.variant),
    readText(source, "config.json", signal),
    readOptionalText(source, "vocab.json", signal),
    readOptionalText(source, "merges.txt", signal),
    readIndex(source, signal),
  ]);
  // A folder straight from the hub has no index, but its one file.
  const plainFile = index ? undefined : await source.open(weightsFile, signal);
  const totalBytes = index?.size ?? plainFile?.size ?? 0;
  onProgress({ stage: "config", loadedBytes: 0, totalBytes });

  const hasThreads = chosen.variant.startsWith("threads");
  const choice = chooseThreads(hasThreads, request, navigator.hardwareConcurrency, totalBytes || unknownSize);
  const plan = planMemory(parseConfig(configText), totalBytes || unknownSize, request.kv);
  const { engine, variant, notice } = await startEngine(factory, chosen.variant, plan, choice.threads);
  const sink = makeSink(engine, (loadedBytes) => onProgress({ stage: "weights", loadedBytes, totalBytes }));
  engine.loadBegin(configText, vocab, merges, request.kv ? { kv: request.kv } : {});
  if (index) await loadPieces(source, index, sink, signal);
  if (plainFile) await loadPlainFile(plainFile, weightsFile, sink, signal);
  signal.throwIfAborted();
  const loaded = engine.call("_gpt2_load_end") as Omit<
    ModelInfo,
    "variant" | "simd" | "memoryBytes" | "notice"
  > & {
    kernels: ModelInfo["simd"];
  };
  const { kernels, ...rest } = loaded;
  const info = {
    ...rest,
    variant,
    simd: kernels,
    memoryBytes: engine.memoryBytes,
    notice: notice ?? chosen.notice,
  };
  let threadChoice: LoadResult["threadChoice"];
  if (choice.measureAs !== undefined) {
    const { threads } = engine.call("_gpt2_tune_threads") as { threads: number };
    info.threads = threads;
    threadChoice = { key: choice.measureAs, threads };
  }
  onProgress({ stage: "ready", loadedBytes: totalBytes, totalBytes });
  return { engine, info, threadChoice };
}
