// The files of a model's folder: which there have to be, and which may be missing.
import { chunksOf, type ModelSource, type OpenFile } from "../loader/model-source.js";
import { listingOf, readOptionalText, type ComingIndex } from "../loader/read-text.js";
import { parseWeightsIndex, type WeightsIndex } from "../loader/weights-index.js";
import { LoadError } from "../shared/errors.js";
import { joined } from "../shared/joined.js";
import type { LoadRequest } from "../shared/protocol.js";
import type { Engine } from "./engine.js";

export const weightsFile = "model.safetensors";
const indexFile = "weights.json";

/** What a load has seen so far. */
export interface Seen {
  source?: ModelSource;
  /** The text of weights.json. */
  index?: string | undefined;
  engine?: Engine;
  /** Settles once no engine will come any more but the one that is here. */
  begun?: Promise<unknown>;
}

export async function readIndex(
  source: ModelSource,
  signal: AbortSignal,
  seen: Seen,
): Promise<WeightsIndex | undefined> {
  seen.source = source;
  seen.index = await readOptionalText(source, indexFile, signal);
  return seen.index === undefined ? undefined : parseWeightsIndex(seen.index);
}

/** Whether the host has another weights.json than the one that was read. */
export async function hasOtherIndex({ source, index }: Seen, signal: AbortSignal): Promise<boolean> {
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

const isMissing = (error: unknown): error is LoadError =>
  error instanceof LoadError && error.code === "not-found";
const withoutIndex = ({ code, message }: LoadError) =>
  new LoadError(code, `there is no ${indexFile}, and without it ${message}`);

/** The one file of weights that have no index; undefined where they have to be converted to be read, or to be stored. */
export async function openPlainFile(
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
export async function openConverted(
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
export function checkWeights(config: unknown, wanted: LoadRequest["weights"]): void {
  const { quantization_config: made } = Object(config) as { quantization_config?: { weights?: unknown } };
  const found = made?.weights === "f16" ? "f32" : made?.weights; // which widens to it
  if (wanted === undefined || typeof found !== "string" || found === wanted) return;
  throw new LoadError(
    "unsupported",
    `the model is converted to ${found} already: the option weights is "${wanted}", which only a model of floats can become`,
  );
}

/** Both files of the tokenizer, or neither: "" each. One of them alone would make ids that mean other tokens. */
export async function readTokenizer(
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
export async function readDefaults(
  source: ModelSource,
  signal: AbortSignal,
  coming: ComingIndex,
): Promise<string | undefined> {
  if ((await coming) && !(await listingOf(coming, defaultsFile))) return undefined;
  return readOptionalText(source, defaultsFile, signal, coming);
}
