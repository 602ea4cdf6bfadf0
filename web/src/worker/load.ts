// Brings a model up: picks the engine's build, makes its memory, streams the weights in.
import { loadPieces, loadPlainFile, type WeightSink } from "../loader/load-weights.js";
import type { ModelSource, OpenFile } from "../loader/model-source.js";
import { parseJson } from "../loader/parse-json.js";
import { NetworkPieces } from "../loader/piece-source.js";
import { listingOf, readOptionalText, readText, type ComingIndex } from "../loader/read-text.js";
import { sha256 } from "../loader/sha256.js";
import type { Patience } from "../loader/steady-fetch.js";
import { parseWeightsIndex, type WeightsIndex } from "../loader/weights-index.js";
import { isLoadError, LoadError } from "../shared/errors.js";
import { usualStallMs, type LoadRequest, type LoadResult } from "../shared/protocol.js";
import type { LoadProgress, ModelInfo, Variant } from "../shared/types.js";
import { EarlyPrefill } from "./early-prefill.js";
import type { Engine } from "./engine.js";
import { gatherThreads, threadNotice } from "./helper-threads.js";
import { reportTo } from "./load-report.js";
import { planMemory } from "./memory-plan.js";
import { fetchBuild, findBuild, startEngine, type BuildSource } from "./start-engine.js";
import { chooseThreads, chooseVariant, type Features } from "./variants.js";

const weightsFile = "model.safetensors";
/** Assumed of a plain file until the host says its size. */
const unknownSize = 512 * 1024 * 1024;

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
    throw new LoadError(error.code, `there is no ${indexFile}, and without it ${error.message}`);
  }
}

/** Both files of the tokenizer, or neither: "" each. One of them alone would make ids that mean other tokens. */
async function readTokenizer(
  source: ModelSource,
  signal: AbortSignal,
  index: ComingIndex,
): Promise<[string, string]> {
  const names = ["vocab.json", "merges.txt"];
  const texts = await Promise.all(names.map((name) => readOptionalText(source, name, signal, index)));
  const empty = names[texts.indexOf("")];
  if (empty !== undefined) throw new LoadError("corrupt", `${empty} is empty`);
  const [vocab, merges] = texts;
  if ((vocab === undefined) !== (merges === undefined)) {
    const [there, missing] = vocab === undefined ? [names[1], names[0]] : names;
    throw new LoadError("not-found", `the model has ${there}, but no ${missing}: its tokenizer needs both`);
  }
  return [vocab ?? "", merges ?? ""];
}

const defaultsFile = "generation_config.json";

/** A folder with an index is asked for it only if that lists it: a request less for all others. */
async function readDefaults(
  source: ModelSource,
  signal: AbortSignal,
  coming: ComingIndex,
): Promise<string | undefined> {
  if ((await coming) && !(await listingOf(coming, defaultsFile))) return undefined;
  return readOptionalText(source, defaultsFile, signal, coming);
}

/** What a load needs of the worker that it runs in. */
export interface LoadSurroundings {
  signal: AbortSignal;
  tell: (progress: LoadProgress) => void;
  openSource: (request: LoadRequest, patience: Patience) => Promise<ModelSource>;
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
  /** Where it is not known how many threads pay: the name to remember the answer by, if it is worth that. */
  measure: { measureAs: string | undefined } | undefined;
}

type EngineInfo = Omit<ModelInfo, "source" | "variant" | "simd" | "memoryBytes" | "notice" | "notStored"> & {
  kernels: ModelInfo["simd"];
};

export async function loadEngine(request: LoadRequest, around: LoadSurroundings): Promise<LoadedEngine> {
  const { signal, builds } = around;
  const report = reportTo(around.tell);
  report.set({ stage: "engine" });
  const chosen = chooseVariant(await around.features(), request.variant);
  const patience = { stallMs: request.stallMs ?? usualStallMs, onRetry: report.onRetry };
  const fetchOne = async (variant: Variant) => {
    const build = await fetchBuild(builds, variant, signal, patience);
    around.startThreadsFrom(build.threadScript);
    return build;
  };
  const finding = findBuild(chosen.variant, fetchOne);
  finding.catch(() => {}); // awaited below, once there is a source
  const source = await around.openSource(request, patience);
  const coming = readIndex(source, signal);
  const parts = Promise.all([
    finding,
    readText(source, "config.json", signal, coming),
    readTokenizer(source, signal, coming),
    readDefaults(source, signal, coming),
  ]);
  parts.catch(() => {}); // awaited below, if the index is there
  const index = await coming;
  if (!index) await parts; // a folder that is not there lacks its config.json first of all
  const plainFile = index ? undefined : await openPlainFile(source, signal);
  const totalBytes = index?.size ?? plainFile?.size ?? 0;
  report.set({ stage: "download", totalBytes });

  const begin = async () => {
    const [found, config, [vocab, merges], generationConfig] = await parts;
    const hasThreads = found.build.variant.startsWith("threads");
    const choice = chooseThreads(hasThreads, request, around.cores, totalBytes || unknownSize);
    const plan = planMemory(parseJson(config, "config.json"), totalBytes || unknownSize, request.kv);
    const { engine, ...started } = await startEngine(found, plan, choice.threads, fetchOne);
    around.onEngine(engine);
    signal.throwIfAborted();
    engine.loadBegin(config, vocab, merges, { kv: request.kv, generationConfig });
    const early = new EarlyPrefill(engine, request.prompt, signal, (layer) => report.set({ layer }));
    return { engine, early, choice, ...started };
  };
  const begun = begin();
  const sink: WeightSink = {
    ready: begun.then(({ engine, early }) => (bytes) => {
      engine.loadWeights(bytes);
      early.wake();
    }),
    onBytes: report.onBytes,
  };
  if (index) await loadPieces(new NetworkPieces(source, sha256), index, sink, signal);
  if (plainFile) await loadPlainFile(plainFile, weightsFile, sink, signal);
  const { engine, early, choice, variant, notice } = await begun;
  await early.end();
  signal.throwIfAborted();
  const wanted = variant.startsWith("threads") ? choice.threads : 1;
  const gathered = await gatherThreads(engine, wanted, around.failedThreads, signal);
  const { kernels, ...rest } = engine.call("_gpt2_load_end") as EngineInfo;
  const info: ModelInfo = {
    ...rest,
    source: source.id ?? null,
    variant,
    simd: kernels,
    memoryBytes: engine.memoryBytes,
    notStored: (await source.notStored?.()) ?? null,
    notice: threadNotice(gathered, wanted) ?? notice ?? chosen.notice,
  };
  report.set({ stage: "ready" });
  // What fewer threads measure says nothing of next time.
  const measureAs = gathered === wanted ? choice.measureAs : undefined;
  const isMeasured = choice.measureAs !== undefined && wanted > 1;
  return { engine, info, measure: isMeasured ? { measureAs } : undefined };
}
