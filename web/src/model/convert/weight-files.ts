// Finds the files that hold a model's weights, and reads their headers before the rest streams.
import { checkMost, mostShards, mostTensors } from "../limits.js";
import { parseJson } from "../parse-json.js";
import { chunksOf, isMissing, type ModelSource, type OpenFile } from "../sources/model-source.js";
import { readOptionalText } from "../sources/read-text.js";
import { weightChunksOf } from "../sources/weight-chunks.js";
import { LoadError } from "../../shared/errors.js";
import { problemOfFileName } from "../../shared/file-names.mjs";
import { joined } from "../../shared/joined.js";
import { describeValue } from "../../shared/refuse.js";
import { headOf, headSize, lengthBytes } from "./tensor-head.js";

export interface WeightFile {
  name: string;
  /** The file, if it is already open. */
  file?: OpenFile;
}

export interface WeightFiles {
  form: "gguf" | "safetensors" | "torch";
  /** In the order in which they are fed. */
  files: WeightFile[];
}

/** Possible forms of the weights, in order of preference. Each is one file, or a list of several. */
const forms = [
  { form: "safetensors", whole: "model.safetensors" },
  { form: "torch", whole: "pytorch_model.bin" },
] as const;

/** The weight files of a model's folder. If there are none, throws the error for a missing model.safetensors. */
export async function findWeights(source: ModelSource, signal: AbortSignal): Promise<WeightFiles> {
  let missing: LoadError | undefined;
  for (const { form, whole } of forms) {
    try {
      return { form, files: [{ name: whole, file: await source.open(whole, { signal }) }] };
    } catch (error) {
      if (!isMissing(error)) throw error;
      missing ??= error;
    }
    const indexFile = `${whole}.index.json`;
    const index = await readOptionalText(source, indexFile, signal);
    if (index !== undefined) return { form, files: shardNames(indexFile, index).map((name) => ({ name })) };
  }
  throw missing ?? new LoadError("not-found", "the model has no weights");
}

export interface FileHead {
  /** The first bytes of a safetensors file, up to its tensors. */
  bytes: Uint8Array;
  /** Size of the whole file, if the host states it. */
  fileSize: number | undefined;
}

/** Subtracts the header's bytes from `room`, a limit that all files share. */
export async function readHead(
  source: ModelSource,
  { name, file: opened }: WeightFile,
  room: { bytes: number },
  signal: AbortSignal,
): Promise<FileHead> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  let size = lengthBytes;
  const file = opened ?? (await source.open(name, { signal }));
  for await (const chunk of weightChunksOf(file, name, signal)) {
    chunks.push(chunk.slice());
    length += chunk.length;
    if (size === lengthBytes && length >= size) {
      size = headSize(joined(chunks));
      checkMost(`${name}, its header`, size, room.bytes, "bytes");
      room.bytes -= size;
    }
    if (length >= size) break;
  }
  return { bytes: headOf(joined(chunks)), fileSize: file.size };
}

/** Reads `size` bytes of `name` from offset `from`, or fewer at its end. Uses `opened`, at its start, if given. */
export async function readPart(
  source: ModelSource,
  name: string,
  { from, size, opened }: { from: number; size: number; opened?: OpenFile | undefined },
  signal: AbortSignal,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const file = opened ?? (await source.open(name, { signal, from }));
  const read = from === 0 ? weightChunksOf : chunksOf;
  for await (const chunk of read(file, name, signal)) {
    chunks.push(chunk.slice());
    length += chunk.length;
    if (length >= size) break;
  }
  return joined(chunks).subarray(0, size);
}

/** The file names in `text`, an index of shards. */
export function shardNames(indexFile: string, text: string): string[] {
  const { weight_map: map } = Object(parseJson(text, indexFile)) as { weight_map?: unknown };
  const names: unknown[] = typeof map === "object" && map !== null ? Object.values(map) : [];
  checkMost(`${indexFile}, "weight_map"`, names.length, mostTensors, "tensors");
  const problemOf = (name: unknown) => {
    if (typeof name !== "string") return "it is not text";
    return name.includes("/") ? 'it contains "/"' : problemOfFileName(name);
  };
  const wrong = names.find((name) => problemOf(name) !== undefined);
  if (names.length === 0 || wrong !== undefined) {
    const found = wrong === undefined ? "" : `, found ${describeValue(wrong)}: ${problemOf(wrong)}`;
    throw new LoadError(
      "corrupt",
      `${indexFile}: expected "weight_map" with the name of a file for each tensor${found}`,
    );
  }
  const shards = [...new Set(names as string[])].sort();
  checkMost(`${indexFile}, "weight_map"`, shards.length, mostShards, "files");
  return shards;
}
