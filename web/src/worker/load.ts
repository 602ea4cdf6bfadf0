// Brings a model up: picks the engine's build, makes its memory, streams the weights in.
import { loadPieces, loadPlainFile, type WeightSink } from "../loader/load-weights.js";
import { chunksOf, type ModelSource, type OpenFile } from "../loader/model-source.js";
import { parseJson } from "../loader/parse-json.js";
import { NetworkPieces } from "../loader/piece-source.js";
import { listingOf, readOptionalText, readText, type ComingIndex } from "../loader/read-text.js";
import { sha256 } from "../loader/sha256.js";
import type { Patience } from "../loader/steady-fetch.js";
import { parseWeightsIndex, type WeightsIndex } from "../loader/weights-index.js";
import { isLoadError, LoadError } from "../shared/errors.js";
import { joined } from "../shared/joined.js";
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

/** What a load has seen so far. */
interface Seen {
  source?: ModelSource;
  /** The text of weights.json. */
  index?: string | undefined;
  engine?: Engine;
}

async function readIndex(
  source: ModelSource,
  signal: AbortSignal,
  seen: Seen,
): Promise<WeightsIndex | undefined> {
  seen.source = source;
  seen.index = await readOptionalText(source, indexFile, signal);
  return seen.index === undefined ? undefined : parseWeightsIndex(seen.index);
}

/** Whether the host has another weights.json than the one that was read. */
async function hasOtherIndex({ source, index }: Seen, signal: AbortSignal): Promise<boolean> {
  if (!source || index === undefined) return false;
  try {
    const bytes: Uint8Array[] = [];
    const file = await source.open(indexFile, { signal, anew: true });
    for await (const chunk of chunksOf(file, indexFile, signal)) bytes.push(chunk.slice());
    return new TextDecoder().decode(joined(bytes)) !== index;
  } catch {
    return false;
  }
}

const isMissing = (error: unknown): error is LoadError => isLoadError(error) && error.code === "not-found";
const withoutIndex = ({ code, message }: LoadError) =>
  new LoadError(code, `there is no ${indexFile}, and without it ${message}`);

/** The one file of weights that have no index; undefined where they have to be converted to be read, or to be stored. */
async function openPlainFile(
  source: ModelSource,
  { source: { kind } }: LoadRequest,
  signal: AbortSignal,
): Promise<OpenFile | undefined> {
  const isPlainFolder = kind === "folder" && !source.weights;
  if (isPlainFolder && source.keepsConverted) return undefined;
  try {
    return await source.open(weightsFile, { signal });
  } catch (error) {
    if (!isMissing(error)) throw error;
    if (isPlainFolder) return undefined;
    throw withoutIndex(error);
  }
}

/** Of a folder without an index. */
async function openConverted(
  source: ModelSource,
  parts: Promise<unknown>,
  signal: AbortSignal,
): Promise<OpenFile> {
  try {
    await parts;
    return await source.open(weightsFile, { signal });
  } catch (error) {
    throw isMissing(error) ? withoutIndex(error) : error;
  }
}

/** Throws where a model is converted already, to something else than what is asked for. */
function checkWeights(config: unknown, wanted: LoadRequest["weights"]): void {
  const { quantization_config: made } = Object(config) as { quantization_config?: { weights?: unknown } };
  const found = made?.weights === "f16" ? "f32" : made?.weights; // which widens to it
  if (wanted === undefined || typeof found !== "string" || found === wanted) return;
  throw new LoadError(
    "unsupported",
    `the model is converted to ${found} already: the option weights is "${wanted}", which only a model of floats can become`,
  );
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

/**
 * Brings a model up. weights.json has no hash but its host's word: where what it says does not fit, the host is asked for it
 * past all caches, and if that is another one, as after damage or an update of the site, all begins anew with it, once.
 */
export async function loadEngine(request: LoadRequest, around: LoadSurroundings): Promise<LoadedEngine> {
  const seen: Seen = {};
  try {
    return await loadOnce(request, around, seen);
  } catch (error) {
    const isFault = isLoadError(error) && error.code !== "network";
    if (!isFault || !(await hasOtherIndex(seen, around.signal))) throw error;
    seen.engine?.destroy();
    return loadOnce(request, around, {});
  }
}

async function loadOnce(request: LoadRequest, around: LoadSurroundings, seen: Seen): Promise<LoadedEngine> {
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
  const open = async (wanted: LoadRequest) => {
    const source = await around.openSource(wanted, patience);
    const coming = readIndex(source, signal, seen);
    const parts = Promise.all([
      finding,
      readText(source, "config.json", signal, coming),
      readTokenizer(source, signal, coming),
      readDefaults(source, signal, coming),
    ]);
    parts.catch(() => {}); // awaited below, if the index is there
    return { source, coming, parts };
  };
  const first = await open(request);
  let { source, parts } = first;
  const index = await first.coming;
  if (!index) await parts; // a folder that is not there lacks its config.json first of all
  let plainFile = index ? undefined : await openPlainFile(source, request, signal);
  if (!index && !plainFile) {
    // Floats that are to be stored, or are in several files: as a hub's, they are converted while they are read.
    ({ source, parts } = await open({ ...request, weights: "q8" }));
    plainFile = await openConverted(source, parts, signal);
  }
  const weightBytes = (index?.size ?? plainFile?.size) || unknownSize;
  const totalBytes = (plainFile?.made ? plainFile.made.totalBytes : (index?.size ?? plainFile?.size)) ?? 0;
  report.set({ stage: "download", totalBytes });

  const begin = async () => {
    const [found, config, [vocab, merges], generationConfig] = await parts;
    const parsed = parseJson(config, "config.json");
    checkWeights(parsed, request.weights);
    const hasThreads = found.build.variant.startsWith("threads");
    const choice = chooseThreads(hasThreads, request, around.cores, weightBytes);
    const plan = planMemory(parsed, weightBytes, request.kv);
    const { engine, ...started } = await startEngine(found, plan, choice.threads, fetchOne);
    seen.engine = engine;
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
