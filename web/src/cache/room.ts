// What is removed from the store, and when.
import { formatBytes } from "../shared/format-bytes.js";
import { digestOf, readRecords, type ModelRecord, type StoredRecord } from "./records.js";
import type { Store } from "./store.js";

/** Records, marks and what a file system adds. */
const slack = 1.01;

/** Files that no record lists may be those of a model that is only just being converted. */
const youngMs = 3_600_000;

/** Removes the files that no record needs: those of `names`, and all that are old. Returns their bytes. */
export async function sweep(store: Store, names: readonly string[] = []): Promise<number> {
  const records = await readRecords(store);
  const needed = new Set(records.flatMap(hashesOf));
  let freed = 0;
  for (const { name, size, modified } of await store.list("blobs")) {
    const isYoung = modified > Date.now() - youngMs;
    if (needed.has(name) || (isYoung && !names.includes(name))) continue;
    const isGone = await store.remove("blobs", name).then(
      () => true,
      () => false, // it is being written
    );
    if (isGone) freed += size;
  }
  return freed;
}

const hashesOf = ({ files, pieces }: ModelRecord) => [...files, ...pieces].map((piece) => piece.sha256);

/** Removes a version of a model, and what no other needs. Returns the bytes that are free then. */
export async function removeRecord(store: Store, record: StoredRecord): Promise<number> {
  await store.remove("models", record.key);
  await store.remove("changed", record.key);
  return sweep(store, hashesOf(record));
}

/** Models that may be removed for others, the one that was used longest ago first. */
async function dispensable(store: Store, exceptId: string): Promise<StoredRecord[]> {
  const kept = new Set((await store.list("kept")).map(({ name }) => name));
  const found: StoredRecord[] = [];
  for (const record of await readRecords(store)) {
    if (record.id !== exceptId && !kept.has(await digestOf(record.id))) found.push(record);
  }
  return found.sort((a, b) => a.used - b.used);
}

/**
 * Sees to it that `bytes` more fit into what the browser gives this origin: what no model needs goes first, then the models
 * that were used longest ago, but none that the user keeps. Returns why they do not fit, in words; null if they do.
 */
export async function makeRoom(store: Store, bytes: number, forId: string): Promise<string | null> {
  const manager = (navigator as { storage?: Partial<StorageManager> }).storage; // WebKitGTK has none
  const { quota, usage } = (await manager?.estimate?.().catch(() => undefined)) ?? {};
  if (quota === undefined || usage === undefined) return null; // writing will tell
  let free = quota - usage;
  if (free >= bytes * slack) return null;
  free += await sweep(store);
  for (const record of free < bytes * slack ? await dispensable(store, forId) : []) {
    free += await removeRecord(store, record);
    if (free >= bytes * slack) break;
  }
  return free >= bytes * slack
    ? null
    : `it takes ${formatBytes(bytes)} more, and the browser gives this site ${formatBytes(Math.max(0, free))}`;
}
