// The cache API of pages: lists stored models, marks them as kept, removes them, and reports the storage that they use.
import { baseAddress } from "../../shared/base-address.js";
import { Gpt2Error } from "../../shared/errors.js";
import type { StorageInfo, StoredModel } from "../../shared/types.js";
import { withStoreLock } from "./locks.js";
import { findStores, openStore } from "./open-store.js";
import { digestOf, readRecords, sizeOf, storedBytes, type StoredRecord } from "./records.js";
import { estimate, evict, removeRecord, reasonNotWritten } from "./room.js";
import { writeFile, type Store } from "./store.js";

interface Persistable {
  persist(): Promise<boolean>;
}

/** The forms of a folder's address under which its model may be listed. */
function idsOf(id: string): string[] {
  try {
    const file = new URL(id, baseAddress());
    const folder = new URL(file);
    folder.search = "";
    const plain = folder.href;
    folder.pathname = folder.pathname.replace(/\/*$/, "/");
    return [id, file.href, plain, folder.href];
  } catch {
    return [id];
  }
}

async function find(store: Store, id: string): Promise<StoredRecord[]> {
  const ids = idsOf(id);
  return (await readRecords(store)).filter((record) => ids.includes(record.id));
}

async function describe(store: Store, record: StoredRecord, kept: ReadonlySet<string>): Promise<StoredModel> {
  const { id, weights = null, pieces, weightBytes = 0, used } = record;
  const { bytes, missing, isWhole } = await storedBytes(store, record);
  const totalBytes = bytes + missing + Math.max(0, weightBytes - sizeOf(pieces));
  const isKept = kept.has(await digestOf(id));
  return {
    id,
    weights,
    bytes,
    totalBytes,
    isComplete: isWhole,
    isKept,
    used: new Date(Math.min(used, Date.now())),
  };
}

const keptIn = async (store: Store) => new Set((await store.list("kept")).map(({ name }) => name));

async function modelsIn(store: Store): Promise<StoredModel[]> {
  const kept = await keptIn(store);
  const records = await readRecords(store);
  return Promise.all(records.map((record) => describe(store, record, kept)));
}

/**
 * The models that are stored on this device by pages of this origin, the one that was loaded last first. A store that cannot be
 * read counts as empty.
 */
export async function listModels(): Promise<StoredModel[]> {
  const stores = await findStores();
  const lists = await Promise.all(stores.map((store) => modelsIn(store).catch(() => [])));
  const models = new Map<string, StoredModel>();
  for (const model of lists.flat().sort((a, b) => Number(b.used) - Number(a.used))) {
    const other = models.get(model.id); // a version that was used later, or is still loading
    if (!other || (model.isComplete && !other.isComplete)) models.set(model.id, model);
  }
  return [...models.values()];
}

/** Applies `change` to every store while no other tab changes them. Throws a Gpt2Error if that fails. */
async function inEachStore(change: (store: Store) => Promise<boolean>): Promise<boolean> {
  let isChanged = false;
  const changeAll = async () => {
    for (const store of await findStores()) isChanged = (await change(store)) || isChanged;
  };
  await withStoreLock(changeAll).catch((error: unknown) => {
    throw new Gpt2Error("storage", `stored models cannot be changed: ${reasonNotWritten(error)}`);
  });
  return isChanged;
}

/**
 * Removes a model from this device, by its id or its address. Resolves to whether there was one. Throws a Gpt2Error if
 * the browser refuses.
 */
export const removeModel = (id: string): Promise<boolean> =>
  inEachStore(async (store) => {
    const found = await find(store, id);
    for (const record of found) {
      await store.remove("kept", await digestOf(record.id));
      await removeRecord(store, record);
    }
    return found.length > 0;
  });

/**
 * Makes room for something else than models: removes the files that no model needs or, if there are none, the least
 * recently used model. Resolves to whether it removed anything.
 */
export const evictOne = (): Promise<boolean> =>
  withStoreLock(async () => {
    for (const store of await findStores()) if ((await evict(store, "")) !== undefined) return true;
    return false;
  });

/**
 * Keeps a stored model until the user removes it, also when room is short, and asks the browser to persist this origin's
 * storage. `keep: false` ends that. Resolves to whether the model is kept and the browser has agreed.
 */
export async function keepModel(id: string, keep = true): Promise<boolean> {
  const isFound = await inEachStore(async (store) => {
    const found = await find(store, id);
    for (const record of found) {
      const mark = await digestOf(record.id);
      await (keep ? writeFile(store, "kept", mark) : store.remove("kept", mark));
    }
    return found.length > 0;
  });
  if (!isFound || !keep) return false;
  // Workers cannot ask for persistent storage.
  const manager = (navigator as { storage?: Partial<Persistable> }).storage;
  return (await manager?.persist?.().catch(() => false)) ?? false;
}

const bytesIn = async (store: Store): Promise<number> =>
  (await store.list("blobs").catch(() => [])).reduce((sum, { size }) => sum + size, 0);

/** Where models are stored, how much they take, and how much storage the browser grants this origin. */
export async function storage(): Promise<StorageInfo> {
  const stores = await findStores();
  const bytes = await Promise.all(stores.map(bytesIn));
  const used = stores.find((_, place) => (bytes[place] ?? 0) > 0);
  const { store, refusal } = used ? { store: used, refusal: null } : await openStore(false);
  const { usage = null, quota = null } = (await estimate()) ?? {};
  const manager = (navigator as { storage?: Partial<StorageManager> }).storage;
  return {
    kind: store?.kind ?? null,
    modelBytes: bytes.reduce((sum, each) => sum + each, 0),
    usage,
    quota,
    persisted: (await manager?.persisted?.().catch(() => false)) ?? false,
    notice: refusal,
  };
}
