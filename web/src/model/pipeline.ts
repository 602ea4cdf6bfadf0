// How a model reaches the engine: source -> convert -> store -> verify -> engine.
import { LoadError } from "../shared/errors.js";
import type { LoadRequest } from "../shared/protocol.js";
import { loadPieces, loadWhole, type WeightSink } from "./load-weights.js";
import { readDefaults, readTokenizer, type TokenizerTexts } from "./model-files.js";
import { NetworkPieces } from "./piece-source.js";
import { sha256 } from "./sha256.js";
import { headersFetch } from "./sources/headers-fetch.js";
import { isMissing, UrlSource, type ModelSource } from "./sources/model-source.js";
import { readOptionalText, readText, readWhole } from "./sources/read-text.js";
import { steadyFetch, type RetryOptions } from "./sources/steady-fetch.js";
import { parseWeightsIndex } from "./weights-index.js";

const indexFile = "weights.json";
const weightsFile = "model.safetensors";

/** Source and convert: a folder on a host, or a source of gpt2-sources.js, which converts what is not converted yet. */
async function sourceOf(
  request: LoadRequest,
  patience: RetryOptions,
  signal: AbortSignal,
): Promise<ModelSource> {
  const { source, weights, adapters, fetchPort } = request;
  if (source.kind !== "folder" || source.orHub || source.file || weights || adapters || fetchPort)
    return (await import("./sources/open-source.js")).openSource(request, { patience, signal });
  return new UrlSource(
    source.url,
    steadyFetch(headersFetch(request, source.url), patience, "passing"),
    source,
  );
}

/** Store: what is read from `files` is stored on this device, and read from there the next time. */
async function withStore(files: ModelSource, request: LoadRequest): Promise<ModelSource> {
  // An embedder's copy of the package may lack this part.
  const store = await import("./store/index.js").catch(() => undefined);
  if (store) return store.cached(files, request);
  files.notStored = async () => "gpt2-cache.js cannot be loaded";
  return files;
}

/** The source of `request`, with its conversion and its store. */
export async function openSource(
  request: LoadRequest,
  patience: RetryOptions,
  signal: AbortSignal,
): Promise<ModelSource> {
  const files = await sourceOf(request, patience, signal);
  return request.cache ? withStore(files, request) : files;
}

/** The small files of a model. */
export interface ModelTexts {
  config: string;
  tokenizer: TokenizerTexts;
  /** The text of generation_config.json, if there is one. */
  generationConfig: string | undefined;
}

/** What a load has opened so far. */
export interface Opened {
  source?: ModelSource;
  /** The text of weights.json. */
  index?: string | undefined;
}

/** A model whose files are being read. */
export interface OpenModel {
  source: ModelSource;
  texts: Promise<ModelTexts>;
  /** Bytes of the converted weights; undefined if the host does not say. */
  weightBytes: number | undefined;
  /** Bytes to read for them, which differ if they are converted; undefined as above. */
  bytesToRead: number | undefined;
  /**
   * Verify: passes the weights to `sink`. Pieces of an index are verified by their hashes; a file that is converted while it is
   * read has none. Resolves after the last byte.
   */
  feed: (sink: WeightSink) => Promise<void>;
}

function withoutIndex(error: unknown): never {
  const words = `there is no ${indexFile}; without it, `;
  if (!isMissing(error) || error.message.startsWith(words)) throw error;
  throw new LoadError(error.code, words + error.message);
}

/**
 * Opens the model of `request`. A folder of floats is converted while it is read, as a model of the Hub is. Without an
 * index, the weights are opened only after `before`, so that its failure is reported first.
 */
export async function openModel(
  request: LoadRequest,
  open: (request: LoadRequest) => Promise<ModelSource>,
  signal: AbortSignal,
  opened: Opened,
  before: Promise<unknown> = Promise.resolve(),
): Promise<OpenModel> {
  const source = (opened.source = await open(request));
  const reading = readOptionalText(source, indexFile, signal).then((text) => {
    opened.index = text;
    return text === undefined ? undefined : parseWeightsIndex(text);
  });
  const readTexts = async (): Promise<ModelTexts> => {
    const [config, tokenizer, generationConfig] = await Promise.all([
      readText(source, "config.json", signal, reading),
      readTokenizer(source, signal, reading),
      readDefaults(source, signal, reading),
    ]);
    return { config, tokenizer, generationConfig };
  };
  const texts = readTexts();
  texts.catch(() => {}); // awaited by the caller, if the index can be read
  const index = await reading;
  if (index) {
    const feed = (sink: WeightSink) => loadPieces(new NetworkPieces(source, sha256), index, sink, signal);
    return { source, texts, weightBytes: index.size, bytesToRead: index.size, feed };
  }
  await Promise.all([texts, before]); // a missing folder is reported by its config.json first
  if (!source.weights && !request.weights) {
    return openModel({ ...request, weights: "q8" }, open, signal, opened).catch(withoutIndex);
  }
  const file = await source.open(weightsFile, { signal }).catch(withoutIndex);
  const bytesToRead = file.made ? file.made.totalBytes : file.size;
  const feed = (sink: WeightSink) => loadWhole(file, weightsFile, sink, signal);
  return { source, texts, weightBytes: file.size, bytesToRead, feed };
}

/** Whether weights.json on the host differs from the one that was read. */
export async function hasOtherIndex({ source, index }: Opened, signal: AbortSignal): Promise<boolean> {
  if (!source || index === undefined) return false;
  try {
    const file = await source.open(indexFile, { signal, reload: true });
    return new TextDecoder().decode(await readWhole(file, indexFile, signal)) !== index;
  } catch {
    return false;
  }
}
