// What is known of the models in a store: a record for each version of each.
import { mostListed, mostRecordBytes } from "../loader/limits.js";
import type { Piece } from "../loader/weights-index.js";
import { sha256 } from "../loader/sha256.js";
import { problemOfFileName } from "../shared/file-names.mjs";
import { readIfPossible, writeFile, type Store, type StoredFile } from "./store.js";

/** One version of a model. All files are found by their hashes, so that two models share what is equal. */
export interface ModelRecord {
  /** What it was loaded by: the folder's URL, say. */
  id: string;
  /** What its floats were quantized to while it was read, where that was a choice. */
  weights?: "q8" | "q4" | "f32" | undefined;
  /** The host's own name for this version, where it has one. */
  version?: string | undefined;
  /** All but the weights, weights.json among them. */
  files: Piece[];
  /** Files that the host has not. */
  missing: string[];
  /** model.safetensors, in order; its beginning, where `weightBytes` says more. */
  pieces: Piece[];
  /** Of model.safetensors, in bytes, while it is converted: its later pieces are not known yet. */
  weightBytes?: number | undefined;
  /** Set until a load has succeeded: files that have not been requested yet may be missing. */
  loading?: true | undefined;
}

export interface StoredRecord extends ModelRecord {
  /** Its name in the store. */
  key: string;
  /** When it was loaded last, in milliseconds since 1970. */
  used: number;
}

/** Digest of a text, as the name of a file. */
export const digestOf = (text: string) => sha256(new TextEncoder().encode(text));

// Not -0 either, which a record that is written again would not repeat.
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
  value === undefined || value === "q8" || value === "q4" || value === "f32";

/** undefined for what is no record. */
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

/** undefined where `bytes` are damaged, or hold another model than `key` says. A tab that ended may have left more behind them. */
async function parseRecord(bytes: Uint8Array, key: string): Promise<ModelRecord | undefined> {
  try {
    const [line = ""] = new TextDecoder().decode(bytes).split("\n", 1);
    // Releases before this one wrote no hash.
    const { sha256: sum, ...rest } = JSON.parse(line) as { sha256?: unknown };
    if (sum !== undefined && sum !== (await digestOf(JSON.stringify(rest)))) return undefined;
    const record = checked(rest);
    return record && key.startsWith(await keyStart(record)) ? record : undefined;
  } catch {
    return undefined;
  }
}

/** Of all models, or of the one that `id` names; last used first. Damaged records are left out. */
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

/** Whether a version of the model `id` is in the store, or a part of one. */
export const hasRecordOf = async (store: Store, id: string): Promise<boolean> =>
  (await readRecords(store, id)).length > 0;

const keyStart = async ({ id, weights }: ModelRecord) => `${await digestOf(id)}-${weights ?? "as-is"}-`;

/** A record's name: versions differ in weights.json, or in config.json, which not every weights.json covers. */
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

/** Bytes of some files or pieces. */
export const sizeOf = (pieces: readonly Piece[]) => pieces.reduce((sum, { size }) => sum + size, 0);

/** Bytes of a model that are in the store, those that are missing there, and whether it is whole. */
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
