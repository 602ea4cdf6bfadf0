// Records of the models in a store: one for each version of each model.
import { weightFormats, type WeightFormat } from "../../shared/formats.js";
import { mostListed, mostRecordBytes } from "../limits.js";
import type { Piece } from "../weights-index.js";
import { sha256 } from "../sha256.js";
import { problemOfFileName } from "../../shared/file-names.mjs";
import { readIfPossible, writeFile, type Store, type StoredFile } from "./store.js";

/** One version of a model. All files are named by their hashes, so that models share equal files. */
export interface ModelRecord {
  /** What it was loaded by, for example the folder's URL. */
  id: string;
  /** The format that its floats were quantized to, if there was a choice. */
  weights?: WeightFormat | undefined;
  /** The host's own name for this version, if it has one. */
  version?: string | undefined;
  /** All files except the weights, including weights.json. */
  files: Piece[];
  /** Files that the host does not have. */
  missing: string[];
  /** The pieces of model.safetensors in order. If `weightBytes` is set, only the first ones. */
  pieces: Piece[];
  /** Bytes of model.safetensors while it is converted; its later pieces are unknown until then. */
  weightBytes?: number | undefined;
  /** Set until a load has succeeded: files that have not been requested yet may be missing. */
  loading?: true | undefined;
}

export interface StoredRecord extends ModelRecord {
  /** The record's name in the store. */
  key: string;
  /** When it was last loaded, in milliseconds since 1970. */
  used: number;
}

/** The digest of a text, used as a file name. */
export const digestOf = (text: string) => sha256(new TextEncoder().encode(text));

// Excludes -0, which JSON would not preserve.
const isSize = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0 && !Object.is(value, -0);

function isPiece(value: unknown): value is Piece {
  const { path, size, sha256: hash } = Object(value) as Partial<Piece>;
  return (
    typeof path === "string" &&
    problemOfFileName(path) === undefined &&
    isSize(size) &&
    typeof hash === "string" &&
    /^[0-9a-f]{64}$/.test(hash)
  );
}

const areAll = <T>(list: unknown, isOne: (value: unknown) => value is T): list is T[] =>
  Array.isArray(list) && list.length <= mostListed && list.every(isOne);
const isText = (value: unknown): value is string => typeof value === "string";
const isFormat = (value: unknown): value is ModelRecord["weights"] =>
  value === undefined || weightFormats.some((format) => format === value);

/** undefined if the value is no valid record. */
function checked(value: unknown): ModelRecord | undefined {
  const { id, weights, version, files, missing, pieces, weightBytes, loading } = Object(value) as Record<
    keyof ModelRecord,
    unknown
  >;
  const isVersion = version === undefined || isText(version);
  if (!isText(id) || !isFormat(weights) || !isVersion || !areAll(missing, isText)) return undefined;
  if (!areAll(files, isPiece) || !areAll(pieces, isPiece)) return undefined;
  if (!isSize(sizeOf([...files, ...pieces])) || !isSize(weightBytes ?? 0)) return undefined;
  return {
    id,
    weights,
    version,
    files,
    missing,
    pieces,
    weightBytes: weightBytes === undefined ? undefined : Number(weightBytes),
    loading: loading === undefined ? undefined : true,
  };
}

/**
 * undefined if `bytes` are damaged or describe another model than `key`. A tab that ended may have left more bytes after
 * them.
 */
async function parseRecord(bytes: Uint8Array, key: string): Promise<ModelRecord | undefined> {
  try {
    const [line = ""] = new TextDecoder().decode(bytes).split("\n", 1);
    // Earlier releases wrote no hash.
    const { sha256: sum, ...rest } = JSON.parse(line) as { sha256?: unknown };
    if (sum !== undefined && sum !== (await digestOf(JSON.stringify(rest)))) return undefined;
    const record = checked(rest);
    return record && key.startsWith(await keyStart(record)) ? record : undefined;
  } catch {
    return undefined;
  }
}

/** The records of all models or of the model `id`, the last used first. Damaged ones are left out. */
export async function readRecords(store: Store, id?: string, read = readIfPossible): Promise<StoredRecord[]> {
  const prefix = id === undefined ? "" : await digestOf(id);
  const isReadable = ({ name, size }: StoredFile) => name.startsWith(prefix) && size <= mostRecordBytes;
  const named = (await store.list("models")).filter(isReadable);
  const found: StoredRecord[] = [];
  for (const { name, modified } of named.sort((a, b) => b.modified - a.modified)) {
    const bytes = await read(store, "models", name);
    const record = bytes && (await parseRecord(bytes, name));
    if (record) found.push({ ...record, key: name, used: modified });
  }
  return found;
}

/** Whether any version of the model `id` is stored, even in part. */
export const hasRecordOf = async (store: Store, id: string): Promise<boolean> =>
  (await readRecords(store, id)).length > 0;

const keyStart = async ({ id, weights }: ModelRecord) => `${await digestOf(id)}-${weights ?? "as-is"}-`;

/** A record's name. Versions differ in weights.json or in config.json, which not every weights.json covers. */
export async function keyOf(record: ModelRecord): Promise<string> {
  const hashOf = (name: string) => record.files.find(({ path }) => path === name)?.sha256 ?? "";
  const index = hashOf("weights.json");
  const config = index && hashOf("config.json");
  return (await keyStart(record)) + index.slice(0, 16) + config.slice(0, 16);
}

/** Writes a record, which also counts as its use, and returns its key. */
export async function writeRecord(store: Store, record: ModelRecord): Promise<string> {
  const { id, weights, version, files, missing, pieces, weightBytes, loading } = record;
  const key = await keyOf(record);
  const text = JSON.stringify({ id, weights, version, files, missing, pieces, weightBytes, loading });
  const line = JSON.stringify({ ...(JSON.parse(text) as ModelRecord), sha256: await digestOf(text) });
  await writeFile(store, "models", key, new TextEncoder().encode(`${line}\n`));
  return key;
}

/** The total size of files or pieces in bytes. */
export const sizeOf = (pieces: readonly Piece[]) => pieces.reduce((sum, { size }) => sum + size, 0);

/** How many bytes of a model are stored, how many are missing, and whether it is complete. */
export async function storedBytes(
  store: Store,
  { files, pieces, weightBytes = 0, loading }: ModelRecord,
): Promise<{ bytes: number; missing: number; isWhole: boolean }> {
  const all = new Map([...files, ...pieces].map((piece) => [piece.sha256, piece]));
  const wanted = [...all.values()];
  const found = await Promise.all(
    wanted.map(async (piece) => (await store.size("blobs", piece.sha256).catch(() => 0)) ?? 0),
  );
  const bytes = wanted.reduce((sum, { size }, place) => sum + Math.min(size, found[place] ?? 0), 0);
  return {
    bytes,
    missing: sizeOf(wanted) - bytes,
    isWhole:
      loading === undefined &&
      sizeOf(pieces) >= weightBytes &&
      wanted.every(({ size }, place) => found[place] === size),
  };
}
