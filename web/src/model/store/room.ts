// Removes models and files from the store to make room.
import { formatBytes } from "../../shared/format-bytes.js";
import { isFull, readWhole, type Folder, type Store } from "./store.js";
import { answerOf } from "./bounded-store.js";
import { loadsUnderWay } from "./locks.js";
import { digestOf, readRecords, storedBytes, type ModelRecord, type StoredRecord } from "./records.js";

/** Allows for records, marks and the file system's overhead. */
const slack = 1.01;

/** Younger files without a record may belong to a model that another tab is converting. */
const youngMs = 3_600_000;

/** Why something could not be stored, in words. */
export const reasonNotWritten = (error: unknown) =>
  isFull(error) ? "the browser gives this site no more storage" : `it cannot be written (${String(error)})`;

/**
 * Removes the files in `names` and all others that no record needs. While a model is loading, removes only old files.
 * Returns the freed bytes.
 */
export async function removeUnneededFiles(store: Store, names: readonly string[] = []): Promise<number> {
  // A record that is temporarily unreadable still needs its files.
  const records = await readRecords(store, undefined, readWhole).catch(() => undefined);
  if (!records) return 0;
  const needed = new Set(records.flatMap(hashesOf));
  const mayBeWanted = (await loadsUnderWay())?.size !== 0;
  let freed = 0;
  for (const { name, size, modified } of await store.list("blobs")) {
    const isYoung = mayBeWanted && modified > Date.now() - youngMs;
    if (needed.has(name) || (isYoung && !names.includes(name))) continue;
    if (await isRemoved(store, "blobs", name)) freed += size;
  }
  const keys = new Set(records.map(({ key }) => key));
  for (const { name } of await store.list("changed")) {
    if (!keys.has(name)) await isRemoved(store, "changed", name);
  }
  return freed;
}

/** Removes a file; false if it is open. */
const isRemoved = (store: Store, folder: Folder, name: string): Promise<boolean> =>
  store.remove(folder, name).then(
    () => true,
    () => false,
  );

export const hashesOf = ({ files, pieces }: ModelRecord) =>
  [...files, ...pieces].map((piece) => piece.sha256);

/** Removes a version of a model, and the files that no other needs. Returns the freed bytes. */
export async function removeRecord(store: Store, record: StoredRecord): Promise<number> {
  await store.remove("models", record.key);
  await store.remove("changed", record.key);
  return removeUnneededFiles(store, hashesOf(record));
}

/** Models that may be removed for others: neither kept nor being loaded, the least recently used first. */
async function dispensable(store: Store, exceptId: string): Promise<StoredRecord[]> {
  const kept = (await store.list("kept")).map(({ name }) => name);
  const spared = new Set([...kept, ...((await loadsUnderWay()) ?? [])]);
  const found: StoredRecord[] = [];
  for (const record of await readRecords(store)) {
    if (record.id !== exceptId && !spared.has(await digestOf(record.id))) found.push(record);
  }
  return found.sort((a, b) => a.used - b.used);
}

/**
 * Removes the files that no model needs; if there are none, the least recently used model. Resolves to the freed bytes;
 * undefined if there was nothing to remove.
 */
export async function evict(store: Store, forId: string): Promise<number | undefined> {
  const freed = await removeUnneededFiles(store);
  if (freed > 0) return freed;
  const [oldest] = await dispensable(store, forId);
  return oldest && removeRecord(store, oldest);
}

/** The browser's estimate of this origin's storage; undefined if it gives none, as in WebKitGTK. */
export async function estimate(): Promise<StorageEstimate | undefined> {
  const manager = (navigator as { storage?: Partial<StorageManager> }).storage;
  const asked = manager?.estimate?.();
  return asked && answerOf(asked).catch(() => undefined);
}

/**
 * Makes room for `bytes` more. Removes unneeded files first, then the least recently used models, but none that the user
 * keeps, and none if all together are too small. Returns null, or a text that says why the bytes do not fit.
 */
export async function makeRoom(store: Store, bytes: number, forId: string): Promise<string | null> {
  const { quota, usage } = (await estimate()) ?? {};
  if (quota === undefined || usage === undefined) return null; // without an estimate, only writing can show it
  let free = quota - usage;
  if (free >= bytes * slack) return null;
  free += await removeUnneededFiles(store);
  const others = free < bytes * slack ? await dispensable(store, forId) : [];
  const sizes = await Promise.all(others.map(async (record) => (await storedBytes(store, record)).bytes));
  const canHelp = sizes.reduce((sum, size) => sum + size, free) >= bytes * slack;
  for (const record of canHelp ? others : []) {
    free += await removeRecord(store, record);
    if (free >= bytes * slack) break;
  }
  return free >= bytes * slack
    ? null
    : `it needs ${formatBytes(bytes)} more, but the browser has only ${formatBytes(Math.max(0, free))} left for this site`;
}
