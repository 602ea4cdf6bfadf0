// A store in Cache Storage, for browsers that refuse the origin private file system. A file exists only when it is
// complete, so an interrupted download starts the current piece again.
import { bytesOf, type Appender, type Folder, type Store, type StoredFile } from "./store.js";

const cacheName = "gpt2-wasm-store";
const sizeHeader = "Content-Length";
const timeHeader = "Last-Modified";

/** These addresses are never fetched. */
const prefix = (folder: Folder) => `https://gpt2-wasm.invalid/${folder}/`;
const addressOf = (folder: Folder, name: string) => prefix(folder) + encodeURIComponent(name);

const sizeOf = ({ headers }: Response) => Number(headers.get(sizeHeader) ?? 0);

/** The file's name; undefined for an entry that this store has not written. */
function nameIn(address: string, folder: Folder): string | undefined {
  try {
    return address.startsWith(prefix(folder))
      ? decodeURIComponent(address.slice(prefix(folder).length))
      : undefined;
  } catch {
    return undefined;
  }
}

/** Copies `body` to a stream without BYOB readers. In Chromium, BYOB reads of cached bodies sometimes never end. */
function withoutByob(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

export class CacheStorageStore implements Store {
  readonly kind = "cache-storage";
  private readonly cache: Cache;

  private constructor(cache: Cache) {
    this.cache = cache;
  }

  /** undefined if nothing was stored. Rejects if the browser lacks Cache Storage or refuses it to this page. */
  static async find(): Promise<CacheStorageStore | undefined> {
    return (await caches.has(cacheName)) ? CacheStorageStore.open() : undefined;
  }

  /** Rejects if the browser lacks Cache Storage or refuses it to this page. */
  static async open(): Promise<CacheStorageStore> {
    return new CacheStorageStore(await caches.open(cacheName));
  }

  async size(folder: Folder, name: string): Promise<number | undefined> {
    const found = await this.cache.match(addressOf(folder, name));
    return found && sizeOf(found);
  }

  async read(folder: Folder, name: string, from = 0): Promise<ReadableStream<Uint8Array> | undefined> {
    const found = await this.cache.match(addressOf(folder, name));
    if (!found?.body) return undefined;
    const stream = withoutByob(found.body);
    return from === 0 ? stream : new Blob([(await bytesOf(stream)).slice(from)]).stream();
  }

  async append(folder: Folder, name: string, at: number): Promise<Appender> {
    const start = at > 0 ? await this.read(folder, name) : undefined;
    const parts: Uint8Array<ArrayBuffer>[] = start ? [(await bytesOf(start)).slice(0, at)] : [];
    return {
      write: (bytes) => void parts.push(Uint8Array.from(bytes)), // the caller reuses the memory of `bytes`
      close: async () => {
        const all = new Blob(parts);
        const headers = { [sizeHeader]: String(all.size), [timeHeader]: new Date().toUTCString() };
        await this.put(addressOf(folder, name), () => new Response(all, { headers }));
      },
    };
  }

  private async put(address: string, response: () => Response): Promise<void> {
    await this.cache.put(address, response());
    if (await this.cache.match(address)) return;
    // WebKit empties the caches of a private window when the site's last page closes. It then loses every file that is
    // stored at an earlier address, until that address is deleted.
    await this.cache.delete(address);
    await this.cache.put(address, response());
    if (!(await this.cache.match(address))) throw new Error("the browser's cache loses stored files");
  }

  async remove(folder: Folder, name: string): Promise<void> {
    await this.cache.delete(addressOf(folder, name));
  }

  async list(folder: Folder): Promise<StoredFile[]> {
    const found: StoredFile[] = [];
    for (const { url } of await this.cache.keys()) {
      const name = nameIn(url, folder);
      if (name === undefined) continue;
      const response = await this.cache.match(url);
      if (!response) continue;
      found.push({
        name,
        size: sizeOf(response),
        modified: Date.parse(response.headers.get(timeHeader) ?? "") || 0,
      });
    }
    return found;
  }
}
