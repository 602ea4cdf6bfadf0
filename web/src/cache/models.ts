// What a page asks of the store: which models are in it, how much room they take, and which are to stay or to go.
import type { StorageInfo, StoredModel } from "../shared/types.js";
import { whileAlone } from "./locks.js";
import { openStore } from "./open-store.js";
import { digestOf, readRecords, sizeOf, storedBytes, type StoredRecord } from "./records.js";
import { removeRecord } from "./room.js";
import { writeFile, type Store } from "./store.js";

interface Persistable {
  persist(): Promise<boolean>;
}

/** The address of a folder as models are listed by it. */
function idsOf(id: string): string[] {
  const { document, location } = globalThis as {
    document?: { baseURI: string };
    location?: { href: string };
  };
  try {
    const file = new URL(id, document?.baseURI ?? location?.href);
    const folder = new URL(file);
    folder.pathname = folder.pathname.replace(/\/*$/, "/");
    return [id, file.href, folder.href];
  } catch {
    return [id];
  }
}

async function find(store: Store, id: string): Promise<StoredRecord[]> {
  const ids = idsOf(id);
  return (await readRecords(store)).filter((record) => ids.includes(record.id));
}

async function describe(store: Store, record: StoredRecord, kept: ReadonlySet<string>): Promise<StoredModel> {
  const { id, weights = null, files, pieces, weightBytes = 0, used } = record;
  const { bytes, isWhole } = await storedBytes(store, record);
  const totalBytes = sizeOf(files) + Math.max(sizeOf(pieces), weightBytes);
  const isKept = kept.has(await digestOf(id));
  return { id, weights, bytes, totalBytes, isComplete: isWhole, isKept, used: new Date(used) };
}

/** The models that are stored on this device by pages of this origin, the one that was loaded last first. */
export async function listModels(): Promise<StoredModel[]> {
  const { store } = await openStore(false);
  if (!store) return [];
  const kept = new Set((await store.list("kept")).map(({ name }) => name));
  const models = new Map<string, StoredModel>();
  for (const record of await readRecords(store)) {
    const model = await describe(store, record, kept);
    const other = models.get(record.id); // a version that was used since, or is on its way
    if (!other || (model.isComplete && !other.isComplete)) models.set(record.id, model);
  }
  return [...models.values()];
}

/** Removes a model from this device, by its id or its address. Resolves to whether there was one. */
export async function removeModel(id: string): Promise<boolean> {
  const { store } = await openStore(false);
  if (!store) return false;
  return whileAlone(async () => {
    const found = await find(store, id);
    for (const record of found) {
      await store.remove("kept", await digestOf(record.id));
      await removeRecord(store, record);
    }
    return found.length > 0;
  });
}

/**
 * Keeps a stored model until the user removes it, however short of room others are, and asks the browser to persist what
 * this origin stores; `keep: false` takes that back. Resolves to whether the model is kept and the browser has agreed.
 */
export async function keepModel(id: string, keep = true): Promise<boolean> {
  const { store } = await openStore(false);
  const found = store ? await find(store, id) : [];
  if (!store || found.length === 0) return false;
  for (const record of found) {
    const mark = await digestOf(record.id);
    await (keep ? writeFile(store, "kept", mark) : store.remove("kept", mark));
  }
  // A worker may not ask.
  const manager = (navigator as { storage?: Partial<Persistable> }).storage;
  return keep && ((await manager?.persist?.().catch(() => false)) ?? false);
}

/** Where models are stored, what they take, and what the browser gives this origin. */
export async function storage(): Promise<StorageInfo> {
  const { store, refusal } = await openStore(false);
  const blobs = (await store?.list("blobs")) ?? [];
  const manager = (navigator as { storage?: Partial<StorageManager> }).storage;
  const estimate = await manager?.estimate?.().catch(() => undefined);
  return {
    kind: store?.kind ?? null,
    modelBytes: blobs.reduce((sum, { size }) => sum + size, 0),
    usage: estimate?.usage ?? null,
    quota: estimate?.quota ?? null,
    persisted: (await manager?.persisted?.().catch(() => false)) ?? false,
    notice: refusal,
  };
}
