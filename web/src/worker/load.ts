// Brings a model up: picks the engine's build, makes its memory, streams the weights in.
import { loadPieces, loadPlainFile, type WeightSink } from "../loader/load-weights.js";
import { readOptionalText, readText, type ModelSource, type OpenFile } from "../loader/model-source.js";
import { parseWeightsIndex, type WeightsIndex } from "../loader/weights-index.js";
import { isLoadError, LoadError } from "../shared/errors.js";
import type { LoadRequest, LoadResult } from "../shared/protocol.js";
import type { LoadProgress, ModelInfo, Variant } from "../shared/types.js";
import { toHex, type Engine } from "./engine.js";
import { gatherThreads, threadNotice } from "./helper-threads.js";
import { planMemory } from "./memory-plan.js";
import { fetchBuild, findBuild, startEngine, type BuildSource } from "./start-engine.js";
import { chooseThreads, chooseVariant, type Features } from "./variants.js";

const weightsFile = "model.safetensors";
/** Assumed of a plain file until the host says its size. */
const unknownSize = 512 * 1024 * 1024;

function parseConfig(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new LoadError("corrupt", `config.json is not valid JSON: ${String(error)}`);
  }
}

const indexFile = "weights.json";

async function readIndex(source: ModelSource, signal: AbortSignal): Promise<WeightsIndex | undefined> {
  const text = await readOptionalText(source, indexFile, signal);
  return text === undefined ? undefined : parseWeightsIndex(text);
}

/** The one file of a folder straight from the hub, which has no index. */
async function openPlainFile(source: ModelSource, signal: AbortSignal): Promise<OpenFile> {
  try {
    return await source.open(weightsFile, { signal });
  } catch (error) {
    if (!(isLoadError(error) && error.code === "not-found")) throw error;
    const missing = new LoadError(error.code, `there is no ${indexFile}, and without it ${error.message}`);
    if (!source.list) throw missing;
    throw await (await import("../sources/index.js")).withoutWeights(source, missing, signal);
  }
}

/** Both files of the tokenizer, or neither: "" each. One of them alone would make ids that mean other tokens. */
async function readTokenizer(source: ModelSource, signal: AbortSignal): Promise<[string, string]> {
  const names = ["vocab.json", "merges.txt"];
  const texts = await Promise.all(names.map((name) => readOptionalText(source, name, signal)));
  const empty = names[texts.indexOf("")];
  if (empty !== undefined) throw new LoadError("corrupt", `${empty} is empty`);
  const [vocab, merges] = texts;
  if ((vocab === undefined) !== (merges === undefined)) {
    const [there, missing] = vocab === undefined ? [names[1], names[0]] : names;
    throw new LoadError("not-found", `the model has ${there}, but no ${missing}: its tokenizer needs both`);
  }
  return [vocab ?? "", merges ?? ""];
}

function makeSink(engine: Engine, onBytes: (loaded: number) => void): WeightSink {
  return {
    take: (bytes) => engine.loadWeights(bytes),
    hash: async (bytes) =>
      // Pages that are not served securely have no crypto.subtle.
      (crypto as Partial<Crypto>).subtle
        ? toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)))
        : engine.sha256(bytes),
    onBytes,
  };
}

/** What a load needs of the worker that it runs in. */
export interface LoadSurroundings {
  signal: AbortSignal;
  tell: (progress: LoadProgress) => void;
  openSource: (request: LoadRequest, onRetry: (reason: string | null) => void) => Promise<ModelSource>;
  builds: BuildSource;
  /** Called with the script that helper threads are to be started from, before any is. */
  startThreadsFrom: (script: string) => void;
  features: () => Promise<Features>;
  cores: number | undefined;
  /** Helper threads that could not be started, or failed, so far. */
  failedThreads: () => number;
  /** Called with the engine as soon as there is one. */
  onEngine: (engine: Engine) => void;
}

export interface LoadedEngine extends LoadResult {
  engine: Engine;
}

type EngineInfo = Omit<ModelInfo, "variant" | "simd" | "memoryBytes" | "notice"> & {
  kernels: ModelInfo["simd"];
};

export async function loadEngine(request: LoadRequest, around: LoadSurroundings): Promise<LoadedEngine> {
  const { signal, builds } = around;
  let progress: LoadProgress | undefined;
  const tell = (next: LoadProgress) => around.tell((progress = next));
  const onRetry = (retry: string | null) => {
    if (progress) around.tell(retry === null ? progress : { ...progress, retry });
  };
  tell({ stage: "engine", loadedBytes: 0, totalBytes: 0 });
  const chosen = chooseVariant(await around.features(), request.variant);
  const source = await around.openSource(request, onRetry);
  const fetchOne = async (variant: Variant) => {
    const build = await fetchBuild(builds, variant, signal);
    around.startThreadsFrom(build.threadScript);
    return build;
  };
  const [found, configText, [vocab, merges], index] = await Promise.all([
    findBuild(chosen.variant, fetchOne),
    readText(source, "config.json", signal),
    readTokenizer(source, signal),
    readIndex(source, signal),
  ]);
  const plainFile = index ? undefined : await openPlainFile(source, signal);
  const totalBytes = index?.size ?? plainFile?.size ?? 0;
  tell({ stage: "config", loadedBytes: 0, totalBytes });

  const hasThreads = found.build.variant.startsWith("threads");
  const choice = chooseThreads(hasThreads, request, around.cores, totalBytes || unknownSize);
  const plan = planMemory(parseConfig(configText), totalBytes || unknownSize, request.kv);
  const { engine, variant, notice } = await startEngine(found, plan, choice.threads, fetchOne);
  around.onEngine(engine);
  signal.throwIfAborted();
  const sink = makeSink(engine, (loadedBytes) => tell({ stage: "weights", loadedBytes, totalBytes }));
  engine.loadBegin(configText, vocab, merges, request.kv ? { kv: request.kv } : {});
  if (index) await loadPieces(source, index, sink, signal);
  if (plainFile) await loadPlainFile(plainFile, weightsFile, sink, signal);
  signal.throwIfAborted();
  const wanted = variant.startsWith("threads") ? choice.threads : 1;
  const gathered = await gatherThreads(engine, wanted, around.failedThreads, signal);
  const { kernels, ...rest } = engine.call("_gpt2_load_end") as EngineInfo;
  const info: ModelInfo = {
    ...rest,
    variant,
    simd: kernels,
    memoryBytes: engine.memoryBytes,
    notice: threadNotice(gathered, wanted) ?? notice ?? chosen.notice,
  };
  let threadChoice: LoadResult["threadChoice"];
  if (choice.measureAs !== undefined && wanted > 1) {
    const { threads } = engine.call("_gpt2_tune_threads") as { threads: number };
    info.threads = threads;
    // What fewer threads measured says nothing of next time.
    if (gathered === wanted) threadChoice = { key: choice.measureAs, threads };
  }
  tell({ stage: "ready", loadedBytes: totalBytes, totalBytes });
  return { engine, info, threadChoice };
}
