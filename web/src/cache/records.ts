// What is known of the models in a store: a record for each version of each.
import type { Piece } from "../loader/weights-index.js";
import { sha256 } from "../loader/sha256.js";
import { bytesOf, writeFile, type Store } from "./store.js";

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
}

export interface StoredRecord extends ModelRecord {
  /** Its name in the store. */
  key: string;
  /** When it was loaded last, in milliseconds since 1970. */
  used: number;
}

/** Digest of a text, as the name of a file. */
export const digestOf = (text: string) => sha256(new TextEncoder().encode(text));

function isPiece(value: unknown): value is Piece {
  const { path, size, sha256: hash } = value as Piece;
  return typeof path === "string" && Number.isInteger(size) && /^[0-9a-f]{64}$/.test(hash);
}

/** undefined for what is no record, such as the beginning of one. */
function parseRecord(bytes: Uint8Array): ModelRecord | undefined {
  try {
    const record = JSON.parse(new TextDecoder().decode(bytes)) as ModelRecord;
    const { id, files, missing, pieces, weightBytes = 0 } = record;
    const isWhole = typeof id === "string" && Array.isArray(missing) && Number.isSafeInteger(weightBytes);
    return isWhole && [...files, ...pieces].every(isPiece) ? record : undefined;
  } catch {
    return undefined;
  }
}

/** Of all models, or of the one that `id` names; last used first. */
export async function readRecords(store: Store, id?: string): Promise<StoredRecord[]> {
  const prefix = id === undefined ? "" : await digestOf(id);
  const named = (await store.list("models")).filter(({ name }) => name.startsWith(prefix));
  const found: StoredRecord[] = [];
  for (const { name, modified } of named.sort((a, b) => b.modified - a.modified)) {
    const stream = await store.read("models", name);
    const record = stream && parseRecord(await bytesOf(stream));
    if (record) found.push({ ...record, key: name, used: modified });
  }
  return found;
}

/** Writes a record, which also counts as its use, and returns its key: weights.json tells versions apart. */
export async function writeRecord(store: Store, record: ModelRecord): Promise<string> {
  const { id, weights, version, files, missing, pieces, weightBytes } = record;
  const index = files.find(({ path }) => path === "weights.json")?.sha256 ?? "";
  const key = `${await digestOf(id)}-${weights ?? "as-is"}-${index.slice(0, 16)}`;
  const text = JSON.stringify({ id, weights, version, files, missing, pieces, weightBytes });
  await writeFile(store, "models", key, new TextEncoder().encode(text));
  return key;
}

/** Bytes of some files or pieces. */
export const sizeOf = (pieces: readonly Piece[]) => pieces.reduce((sum, { size }) => sum + size, 0);

/** Bytes of a model that are in the store, those that are missing there, and whether it is whole. */
export async function storedBytes(
  store: Store,
  { files, pieces, weightBytes = 0 }: ModelRecord,
): Promise<{ bytes: number; missing: number; isWhole: boolean }> {
  const all = new Map([...files, ...pieces].map((piece) => [piece.sha256, piece]));
  const wanted = [...all.values()];
  const found = await Promise.all(
    wanted.map(async (piece) => (await store.size("blobs", piece.sha256)) ?? 0),
  );
  const bytes = wanted.reduce((sum, { size }, place) => sum + Math.min(size, found[place] ?? 0), 0);
  return {
    bytes,
    missing: sizeOf(wanted) - bytes,
    isWhole: sizeOf(pieces) >= weightBytes && wanted.every(({ size }, place) => found[place] === size),
  };
}
