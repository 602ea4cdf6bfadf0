// The part of Cache Storage that is used, in memory. Each match makes a new response of the stored one.

interface Entry {
  url: string;
  bytes: ArrayBuffer;
  init: ResponseInit;
}

const urlOf = (request: RequestInfo | URL) => (request instanceof Request ? request.url : String(request));

export class FakeCache {
  readonly entries = new Map<string, Entry>();
  /** Entries at these addresses are lost until they are deleted, as in WebKit's private windows. */
  readonly ghosts = new Set<string>();
  /** Every new entry is lost. */
  losesAll = false;

  async match(request: RequestInfo | URL): Promise<Response | undefined> {
    const found = this.entries.get(urlOf(request));
    return found && new Response(found.bytes.byteLength > 0 ? found.bytes : null, found.init);
  }
  async put(request: RequestInfo | URL, response: Response): Promise<void> {
    const { status, headers } = response;
    const url = urlOf(request);
    if (this.losesAll || this.ghosts.has(url)) return;
    this.entries.set(url, { url, bytes: await response.arrayBuffer(), init: { status, headers } });
  }
  async delete(request: RequestInfo | URL): Promise<boolean> {
    const url = urlOf(request);
    return this.ghosts.delete(url) || this.entries.delete(url);
  }
  async keys(): Promise<Request[]> {
    return [...this.entries.keys()].map((url) => new Request(url));
  }
}

export class FakeCaches {
  readonly all = new Map<string, FakeCache>();

  async open(name: string): Promise<FakeCache> {
    const cache = this.all.get(name) ?? new FakeCache();
    this.all.set(name, cache);
    return cache;
  }
  async has(name: string): Promise<boolean> {
    return this.all.has(name);
  }
  async keys(): Promise<string[]> {
    return [...this.all.keys()];
  }
  async match(request: RequestInfo | URL, { cacheName = "" } = {}): Promise<Response | undefined> {
    return this.all.get(cacheName)?.match(request);
  }
}
