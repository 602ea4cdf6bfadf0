// The best store that this browser gives this page.
import { CacheStorageStore } from "./cache-storage-store.js";
import { OpfsStore } from "./opfs-store.js";
import { writeFile, type Store } from "./store.js";

/** A store, or why there is none, in words. */
export type Opened = { store: Store; refusal: null } | { store: undefined; refusal: string };

/** Private windows of some browsers have a file system that opens, and then refuses every file. */
async function tried(store: Store, bytes: Uint8Array): Promise<Store> {
  const probe = `probe ${Math.random()}`; // other tabs try at the same time
  await writeFile(store, "changed", probe, bytes);
  await store.remove("changed", probe);
  return store;
}

/** `writes`: whether files are to be written, which the file system lets workers do alone, or only listed and removed. */
export async function openStore(writes: boolean): Promise<Opened> {
  const insecure = "only pages that are served securely (https:, or localhost) are given storage";
  // Files are named by their hashes.
  if (!(crypto as Partial<Crypto>).subtle) return { store: undefined, refusal: insecure };
  const refusals: string[] = [];
  for (const open of [() => OpfsStore.open(), () => CacheStorageStore.open()]) {
    try {
      return { store: await tried(await open(), new Uint8Array(writes ? 1 : 0)), refusal: null };
    } catch (error) {
      refusals.push(String(error));
    }
  }
  const why = `this browser gives this page no storage, as in private windows (${refusals[0] ?? ""})`;
  return { store: undefined, refusal: why };
}
