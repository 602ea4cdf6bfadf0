// The kinds of storage that this browser grants this page.
import { BoundedStore, answerOf } from "./bounded-store.js";
import { CacheStorageStore } from "./cache-storage-store.js";
import { OpfsStore } from "./opfs-store.js";
import { hasRecordOf } from "./records.js";
import { isFull, writeFile, type Store } from "./store.js";
import { reasonNotWritten } from "./room.js";

/** A store, or the reason why there is none, in words. */
export type StoreOrRefusal = { store: Store; refusal: null } | { store: undefined; refusal: string };

interface Kind {
  find(): Promise<Store | undefined>;
  open(): Promise<Store>;
}
/** In order of preference. */
const kinds: readonly Kind[] = [OpfsStore, CacheStorageStore];

/** Files are named by their hashes, which only secure pages can compute. */
const isSecure = () => (crypto as Partial<Crypto>).subtle !== undefined;
const insecure = "only secure pages (https:, or localhost) have storage";

interface Found {
  kind: Kind;
  /** undefined if nothing was stored. */
  store?: Store | undefined;
  /** Why the store cannot be opened. */
  error?: Error;
}

async function look(kind: Kind): Promise<Found> {
  try {
    const store = await answerOf(kind.find());
    return { kind, store: store && new BoundedStore(store) };
  } catch (error) {
    return { kind, error: error instanceof Error ? error : new Error(String(error)) };
  }
}

const lookEverywhere = async () => (isSecure() ? Promise.all(kinds.map(look)) : []);
const storesOf = (found: readonly Found[]) => found.flatMap(({ store }) => store ?? []);

/** The stores of this origin that contain models, or once did. It writes nothing, so it works on a full disk. */
export const findStores = async (): Promise<Store[]> => storesOf(await lookEverywhere());

/** Throws if `store` accepts no file. Private windows of some browsers open a file system and then refuse every file. */
async function probe(store: Store, bytes: Uint8Array): Promise<void> {
  const name = `probe ${Math.random()}`; // other tabs may probe at the same time
  try {
    await writeFile(store, "changed", name, bytes);
  } catch (error) {
    if (!isFull(error)) throw error; // removing models can free room
  } finally {
    await store.remove("changed", name).catch(() => {});
  }
}

async function openNew(found: readonly Found[], writes: boolean): Promise<StoreOrRefusal> {
  if (!isSecure()) return { store: undefined, refusal: insecure };
  const errors: unknown[] = [];
  for (const { kind, error } of found) {
    try {
      if (error) throw error;
      const store = new BoundedStore(await answerOf(kind.open()));
      await probe(store, new Uint8Array(writes ? 1 : 0));
      return { store, refusal: null };
    } catch (reason) {
      errors.push(reason);
    }
  }
  const full = errors.find(isFull);
  const why = `this browser gives this page no storage, which is usual in private windows (${String(errors[0])})`;
  return { store: undefined, refusal: full ? reasonNotWritten(full) : why };
}

/**
 * The store for new files. `writes`: whether the caller will write contents, which only workers can do in the file
 * system, or only empty files.
 */
export const openStore = async (writes: boolean): Promise<StoreOrRefusal> =>
  openNew(await lookEverywhere(), writes);

/** The store that contains the model `id`; if none does, the one to store it in. */
export async function openStoreFor(id: string): Promise<StoreOrRefusal> {
  const found = await lookEverywhere();
  for (const store of storesOf(found)) {
    if (await hasRecordOf(store, id).catch(() => false)) return { store, refusal: null };
  }
  return openNew(found, true);
}
