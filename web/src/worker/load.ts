// Loads a model: chooses the engine's build, allocates its memory, and streams the weights in.
import type { WeightSink } from "../model/load-weights.js";
import { parseJson } from "../model/parse-json.js";
import { hasOtherIndex, openModel, type Opened } from "../model/pipeline.js";
import type { ModelSource } from "../model/sources/model-source.js";
import type { RetryOptions } from "../model/sources/steady-fetch.js";
import { LoadError } from "../shared/errors.js";
import { usualStallMs, type LoadRequest, type LoadResult, type ThreadChoice } from "../shared/protocol.js";
import type { LoadProgress, ModelInfo, Variant } from "../shared/types.js";
import { followingController, unlessAborted } from "../shared/unless-aborted.js";
import type { ThreadStart } from "../model/wasm-instance.js";
import { beginLoad } from "./begin-load.js";
import { EarlyPrefill } from "./early-prefill.js";
import type { Engine } from "./engine.js";
import { gatherThreads, threadNotice } from "./helper-threads.js";
import { reportTo } from "./load-report.js";
import { planMemory } from "./memory-plan.js";
import { fetchBuild, findBuild, startEngine, type BuildSource } from "./start-engine.js";
import { chooseThreads, chooseVariant, type Features } from "./variants.js";

/** What a load has opened and started so far. */
interface LoadState extends Opened {
  engine?: Engine;
  /** Settles when no other engine can still start. */
  begun?: Promise<unknown>;
}

/** Assumed for a converted file without an index whose host does not state its size. */
const unknownSize = 512 * 1024 * 1024;

/** What a load needs from its worker. */
export interface LoadSurroundings {
  signal: AbortSignal;
  tell: (progress: LoadProgress) => void;
  openSource: (request: LoadRequest, patience: RetryOptions) => Promise<ModelSource>;
  builds: BuildSource;
  /** Starts a helper thread from the script of a build. */
  startThread: (script: string, start: ThreadStart) => void;
  features: () => Promise<Features>;
  cores: number | undefined;
  /** Helper threads that could not be started or failed so far. */
  failedThreads: () => number;
  /** Called with the engine as soon as it exists. */
  onEngine: (engine: Engine) => void;
}

export interface LoadedEngine extends LoadResult {
  engine: Engine;
  /** Set if the best number of threads is unknown: the name to store the measurement by, if it should be stored. */
  measure: { measureAs: string | undefined } | undefined;
  /** The stored measurement, if there is one. */
  known?: ThreadChoice | undefined;
}

type EngineInfo = Omit<
  ModelInfo,
  "source" | "variant" | "simd" | "memoryBytes" | "notice" | "notStored" | "warnings"
> & {
  warnings?: string[];
  kernels: ModelInfo["simd"];
};

/** Throws if a model is already converted to another format than the requested one. */
export function checkWeights(config: unknown, wanted: LoadRequest["weights"]): void {
  const { quantization_config: made } = Object(config) as { quantization_config?: { weights?: unknown } };
  const found = made?.weights === "f16" ? "f32" : made?.weights; // the engine widens it
  if (wanted === undefined || typeof found !== "string" || found === wanted) return;
  throw new LoadError(
    "unsupported",
    `weights is "${wanted}", but the model is already converted to ${found}: leave out the option, or load the original model`,
  );
}

/**
 * Loads a model. weights.json itself has no hash. If a file does not match it, weights.json is fetched again, bypassing all
 * caches. If it has changed, as after damage or an update of the site, the load starts again with it, once. It also
 * starts again if the source has an alternative, such as the stored version when the host's newer one fails.
 */
export async function loadEngine(request: LoadRequest, around: LoadSurroundings): Promise<LoadedEngine> {
  const seen: LoadState = {};
  const { controller, letGo } = followingController(around.signal);
  try {
    return await loadOnce(request, { ...around, signal: controller.signal }, seen);
  } catch (error) {
    if (!(error instanceof LoadError)) throw error;
    const other = seen.source?.another?.();
    const isFault = error.code !== "network";
    if (!other && !(isFault && (await hasOtherIndex(seen, around.signal)))) throw error;
    // The engine may still be starting.
    controller.abort(error);
    await seen.begun?.catch(() => undefined);
    seen.engine?.destroy();
    const openSource = typeof other === "object" ? async () => other : around.openSource;
    return await loadOnce(request, { ...around, openSource }, {});
  } finally {
    letGo();
  }
}

async function loadOnce(
  request: LoadRequest,
  around: LoadSurroundings,
  seen: LoadState,
): Promise<LoadedEngine> {
  const { signal, builds } = around;
  const report = reportTo(around.tell);
  report.set({ stage: "engine" });
  const chosen = chooseVariant(await around.features(), request.variant);
  const patience = { stallMs: request.stallMs ?? usualStallMs, onRetry: report.onRetry };
  const fetchOne = (variant: Variant) => fetchBuild(builds, variant, signal, patience);
  const finding = findBuild(chosen.variant, fetchOne);
  finding.catch(() => {}); // awaited below, once there is a source
  const open = (wanted: LoadRequest) => around.openSource(wanted, patience);
  const model = await openModel(request, open, signal, seen, finding);
  const weightBytes = model.weightBytes || unknownSize;
  report.set({ stage: "download", totalBytes: model.bytesToRead ?? 0 });

  const begin = async () => {
    const [found, { config, tokenizer, generationConfig }] = await Promise.all([finding, model.texts]);
    report.beginRate();
    const parsed = parseJson(config, "config.json");
    checkWeights(parsed, request.weights);
    const hasThreads = found.build.variant.startsWith("threads");
    const choice = chooseThreads(hasThreads, request, around.cores, weightBytes);
    const plan = planMemory(parsed, weightBytes, request.kv);
    const { engine, ...started } = await startEngine(
      found,
      plan,
      choice.threads,
      fetchOne,
      around.startThread,
    );
    seen.engine = engine;
    around.onEngine(engine);
    signal.throwIfAborted();
    await beginLoad(engine, config, tokenizer, { kv: request.kv, generationConfig });
    signal.throwIfAborted();
    const early = new EarlyPrefill(engine, request.prompt, signal, (layer) => report.set({ layer }));
    return { engine, early, choice, ...started };
  };
  const begun = begin();
  seen.begun = begun;
  const sink: WeightSink = {
    ready: begun.then(({ engine, early }) => (bytes) => {
      engine.loadWeights(bytes);
      early.wake();
    }),
    onBytes: report.onBytes,
  };
  await model.feed(sink);
  const { engine, early, choice, variant, notice } = await begun;
  await early.end();
  signal.throwIfAborted();
  const wanted = variant.startsWith("threads") ? choice.threads : 1;
  const gathered = await gatherThreads(engine, wanted, around.failedThreads, signal);
  const { kernels, warnings = [], ...rest } = engine.call("_gpt2_load_end") as EngineInfo;
  const info: ModelInfo = {
    ...rest,
    source: model.source.id ?? null,
    variant,
    simd: kernels,
    memoryBytes: engine.memoryBytes,
    notStored: (model.source.notStored && (await unlessAborted(model.source.notStored(), signal))) ?? null,
    warnings,
    notice: threadNotice(gathered, wanted) ?? notice ?? chosen.notice,
  };
  report.set({ stage: "ready" });
  // A measurement with fewer threads than planned is not stored.
  const measureAs = gathered === wanted ? choice.measureAs : undefined;
  const isMeasured = choice.measureAs !== undefined && wanted > 1;
  const known = gathered === choice.known?.threads ? choice.known : undefined;
  return { engine, info, measure: isMeasured ? { measureAs } : undefined, known };
}
