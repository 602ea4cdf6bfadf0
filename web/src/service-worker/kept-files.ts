// Files that are stored for visits without network, in a Workbox precache. Each is listed with its hash, and only a file
// with this hash is stored under its name. So releases never mix, even while a host changes from one to the next.
import type { WorkboxPlugin } from "workbox-core/types.js";
import { PrecacheController } from "workbox-precaching";
import { Strategy, type StrategyHandler } from "workbox-strategies";
import { inTime } from "../shared/in-time.js";

/** A cache that takes longer to answer counts as empty. */
const patienceMs = 10_000;

/** A file of this release. */
export interface KeptFile {
  /** Relative to the service worker; "./" is the page itself. */
  url: string;
  /** SHA-256 in lower-case hexadecimal. */
  revision: string;
}

async function sha256(bytes: ArrayBuffer): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Answers from the store. If it cannot be read, answers from the host. */
class KeptFirst extends Strategy {
  protected async _handle(request: Request, handler: StrategyHandler): Promise<Response> {
    const reading = handler.cacheMatch(request);
    const kept = await inTime(reading, patienceMs, "Cache Storage does not answer").catch(() => undefined);
    return kept ?? handler.fetchAndCachePut(request);
  }
}

export class KeptFiles {
  private readonly precache: PrecacheController;
  private readonly strategy: KeptFirst;
  /** Hashes by absolute address. */
  private readonly revisions: ReadonlyMap<string, string>;

  private readonly cacheName: string;

  constructor(files: readonly KeptFile[], cacheName: string) {
    this.cacheName = cacheName;

    this.revisions = new Map(files.map(({ url, revision }) => [new URL(url, location.href).href, revision]));
    // Workbox stores a fetched file as soon as it is complete. The page reads it at the same time.
    const onlyListed: WorkboxPlugin = {
      cacheWillUpdate: async ({ request, response }) => {
        if (response.status !== 200) return null;
        return this.ifListed(request, response.clone());
      },
      // A damaged stored file counts as missing: it is fetched again and replaced.
      cachedResponseWillBeUsed: async ({ request, cachedResponse }) =>
        cachedResponse ? this.ifListed(request, cachedResponse) : null,
    };
    // Revalidates the browser's own cache with the host: most files need no new download.
    const revalidate: WorkboxPlugin = {
      requestWillFetch: async ({ request, event }) =>
        event.type === "fetch" ? request : new Request(request, { cache: "no-cache" }),
    };
    this.precache = new PrecacheController({ cacheName, plugins: [revalidate, onlyListed] });
    this.precache.addToCacheList([...files]);
    const byRevision: WorkboxPlugin = {
      cacheKeyWillBeUsed: async ({ request }) =>
        this.precache.getCacheKeyForURL(this.addressOf(request.url)) ?? request,
    };
    this.strategy = new KeptFirst({
      cacheName,
      plugins: [byRevision, revalidate, onlyListed],
      matchOptions: { ignoreVary: true },
    });
  }

  has(request: Request): boolean {
    return request.method === "GET" && this.revisions.has(this.addressOf(request.url));
  }

  /** Answers with the stored file. If there is none, answers with the host's file, and stores it if its hash is right. */
  async answer(request: Request, event: FetchEvent): Promise<Response> {
    return this.strategy.handle({ request, event });
  }

  /** Stores all files, except those already stored with the same hash; rejects if one is not available. */
  async install(event: ExtendableEvent): Promise<void> {
    await this.precache.install(event);
  }

  /** Stores the files that no page has fetched yet. Returns whether all are stored now. */
  async complete(event: ExtendableEvent): Promise<boolean> {
    for (const url of this.revisions.keys()) {
      const [answered, kept] = this.strategy.handleAll({ request: new Request(url), event });
      await Promise.all([answered, kept]);
    }
    const cache = await caches.open(this.cacheName);
    const keys = new Set((await cache.keys()).map(({ url }) => url));
    return [...this.precache.getURLsToCacheKeys().values()].every((key) => keys.has(key));
  }

  /** Whether any of the files is stored, of any release. */
  async hasAny(): Promise<boolean> {
    return (
      (await caches.has(this.cacheName)) && (await (await caches.open(this.cacheName)).keys()).length > 0
    );
  }

  /** Removes the files of other releases. */
  async activate(event: ExtendableEvent): Promise<void> {
    await this.precache.activate(event);
  }

  /**
   * `response` if its bytes have the listed hash, else null. Removes the redirect, because no page loads through one.
   */
  private async ifListed(request: Request, response: Response): Promise<Response | null> {
    const bytes = await response.arrayBuffer().catch(() => undefined);
    const isListed =
      bytes !== undefined && (await sha256(bytes)) === this.revisions.get(this.addressOf(request.url));
    return isListed ? new Response(bytes, { headers: response.headers }) : null;
  }

  /** A file's address without query, which is meant for the page. index.html becomes the folder. */
  private addressOf(url: string): string {
    const address = new URL(url);
    address.search = "";
    address.hash = "";
    address.pathname = address.pathname.replace(/\/index\.html$/, "/");
    return address.href;
  }
}
