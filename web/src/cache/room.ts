// What is removed from the store, and when.
import { formatBytes } from "../shared/format-bytes.js";
import { answerOf } from "./bounded-store.js";
import { loadsUnderWay } from "./locks.js";
import { digestOf, readRecords, type ModelRecord, type StoredRecord } from "./records.js";
import { readWhole, type Folder, type Store } from "./store.js";

/** Records, marks and what a file system adds. */
const slack = 1.01;

/** Files without a record that are younger may belong to a model that another tab is converting. */
const youngMs = 3_600_000;

/** Whether writing failed for lack of room. */
export const isFull = (error: unknown) => (error as Error | null)?.name === "QuotaExceededError";

/** Why something could not be stored, in words. */
export const reasonNotWritten = (error: unknown) =>
  isFull(error) ? "the browser gives this site no more storage" : `it cannot be written (${String(error)})`;

/**
 * Removes the files that no record needs: those of `names`, and all others, but while a model is being loaded only old
 * ones. Returns their bytes.
 */
export async function removeUnneededFiles(store: Store, names: readonly string[] = []): Promise<number> {
  // A record that cannot be read at the moment still needs its files.
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

/** Removes a file; false where it is open. */
const isRemoved = (store: Store, folder: Folder, name: string): Promise<boolean> =>
  store.remove(folder, name).then(
    () => true,
    () => false,
  );

export const hashesOf = ({ files, pieces }: ModelRecord) =>
  [...files, ...pieces].map((piece) => piece.sha256);

/** Removes a version of a model, and what no other needs. Returns the bytes that are free then. */
export async function removeRecord(store: Store, record: StoredRecord): Promise<number> {
  await store.remove("models", record.key);
  await store.remove("changed", record.key);
  return removeUnneededFiles(store, hashesOf(record));
}

/** Models that may be removed for others: neither kept nor being loaded, the one that was used longest ago first. */
async function dispensable(store: Store, exceptId: string): Promise<StoredRecord[]> {
  const kept = (await store.list("kept")).map(({ name }) => name);
  const spared = new Set([...kept, ...((await loadsUnderWay()) ?? [])]);
  const found: StoredRecord[] = [];
  for (const record of await readRecords(store)) {
    if (record.id !== exceptId && !spared.has(await digestOf(record.id))) found.push(record);
  }
  return found.sort((a, b) => a.used - b.used);
}

/** Removes the files that no model needs; if there are none, the model used longest ago. Resolves to whether it removed any. */
export async function evict(store: Store, forId: string): Promise<boolean> {
  if ((await removeUnneededFiles(store)) > 0) return true;
  const [oldest] = await dispensable(store, forId);
  if (oldest) await removeRecord(store, oldest);
  return oldest !== undefined;
}

/** What the browser says of this origin's room; undefined where it says nothing, as WebKitGTK. */
export async function estimate(): Promise<StorageEstimate | undefined> {
  const manager = (navigator as { storage?: Partial<StorageManager> }).storage;
  const asked = manager?.estimate?.();
  return asked && answerOf(asked).catch(() => undefined);
}

/**
 * Makes room for `bytes` more. It removes files that no model needs first, then the models that were used longest ago, but
 * none that the user keeps. Returns null, or a text that says why the bytes do not fit.
 */
export async function makeRoom(store: Store, bytes: number, forId: string): Promise<string | null> {
  const { quota, usage } = (await estimate()) ?? {};
  if (quota === undefined || usage === undefined) return null; // writing will tell
  let free = quota - usage;
  if (free >= bytes * slack) return null;
  free += await removeUnneededFiles(store);
  for (const record of free < bytes * slack ? await dispensable(store, forId) : []) {
    free += await removeRecord(store, record);
    if (free >= bytes * slack) break;
  }
  return free >= bytes * slack
    ? null
    : `it needs ${formatBytes(bytes)} more, but the browser has only ${formatBytes(Math.max(0, free))} left for this site`;
}
