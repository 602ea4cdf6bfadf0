// An origin private file system in memory, with a worker's sync handles: one writer at a time.

const error = (name: string) => new DOMException(name, name);

class FakeFile {
  readonly kind = "file";
  bytes = new Uint8Array();
  modified = Date.now();
  isOpen = false;
  readers = 0;

  readonly name: string;
  private readonly disk: FakeDisk;

  constructor(name: string, disk: FakeDisk) {
    this.name = name;
    this.disk = disk;
  }

  async getFile(): Promise<File> {
    await this.disk.before(`getFile ${this.name}`);
    return new File([this.bytes], this.name, { lastModified: this.modified });
  }

  async createSyncAccessHandle({ mode = "readwrite" } = {}) {
    await this.disk.before(`open ${this.name}`);
    const isWriter = mode !== "read-only";
    if (this.isOpen || (isWriter && this.readers > 0)) throw error("NoModificationAllowedError");
    if (isWriter) this.isOpen = true;
    else this.readers += 1;
    return {
      getSize: () => this.bytes.length,
      read: (into: Uint8Array, { at }: { at: number }) => {
        this.disk.beforeSync(`read ${this.name}`);
        const part = this.bytes.subarray(at, at + into.length);
        into.set(part);
        return part.length;
      },
      write: (bytes: Uint8Array, { at }: { at: number }) => {
        this.disk.beforeSync(`write ${this.name}`);
        const size = Math.max(this.bytes.length, at + bytes.length);
        const growth = size - this.bytes.length;
        const isFull = growth > 0 && this.disk.used() + growth > this.disk.quota;
        if (isFull && this.disk.returnsErrors) return 2 ** 32 - 8;
        if (isFull) throw error("QuotaExceededError");
        const next = new Uint8Array(size);
        next.set(this.bytes);
        next.set(bytes, at);
        this.bytes = next;
        this.modified = this.disk.now++;
        return bytes.length;
      },
      truncate: (size: number) => {
        this.disk.beforeSync(`truncate ${this.name}`);
        this.bytes = this.bytes.slice(0, size);
      },
      flush: () => {},
      close: () => {
        if (isWriter) this.isOpen = false;
        else this.readers -= 1;
      },
    };
  }
}

class FakeFolder {
  readonly kind = "directory";
  readonly files = new Map<string, FakeFile>();
  readonly folders = new Map<string, FakeFolder>();
  private readonly disk: FakeDisk;

  constructor(disk: FakeDisk) {
    this.disk = disk;
  }

  async getDirectoryHandle(name: string, { create = false } = {}): Promise<FakeFolder> {
    await this.disk.before(`folder ${name}`);
    if (create && !this.folders.has(name)) this.disk.checkRoom();
    const found = this.folders.get(name) ?? (create ? new FakeFolder(this.disk) : undefined);
    if (!found) throw error("NotFoundError");
    this.folders.set(name, found);
    return found;
  }

  async getFileHandle(name: string, { create = false } = {}): Promise<FakeFile> {
    await this.disk.before(`file ${name}`);
    if (create && !this.files.has(name)) this.disk.checkRoom();
    const found = this.files.get(name) ?? (create ? new FakeFile(name, this.disk) : undefined);
    if (!found) throw error("NotFoundError");
    this.files.set(name, found);
    return found;
  }

  async removeEntry(name: string): Promise<void> {
    await this.disk.before(`remove ${name}`);
    const file = this.files.get(name);
    if (file && (file.isOpen || file.readers > 0)) throw error("NoModificationAllowedError");
    if (!this.files.delete(name)) throw error("NotFoundError");
  }

  async *entries(): AsyncGenerator<[string, FakeFile]> {
    await this.disk.before("list");
    yield* [...this.files];
  }
}

export class FakeDisk {
  quota = Infinity;
  /** Whether a write without room returns an error's number as Chromium does, instead of throwing. */
  returnsErrors = false;
  /** Called before each operation with what it does, as "remove NAME". It may throw, or return a promise that never settles. */
  before: (operation: string) => Promise<void> | void = () => {};
  /** Like `before`, for synchronous operations of a handle: it may only throw. */
  beforeSync: (operation: string) => void = () => {};
  /** Advances with every write. */
  now = Date.now();
  readonly root = new FakeFolder(this);

  used(): number {
    const sizeOf = (folder: FakeFolder): number =>
      [...folder.files.values()].reduce((sum, { bytes }) => sum + bytes.length, 0) +
      [...folder.folders.values()].reduce((sum, inside) => sum + sizeOf(inside), 0);
    return sizeOf(this.root);
  }

  /** Throws as a browser does where a full disk has no room for another file. */
  checkRoom(): void {
    if (this.used() >= this.quota) throw error("QuotaExceededError");
  }

  /** A folder of the store. */
  async folder(name: string): Promise<FakeFolder> {
    const home = await this.root.getDirectoryHandle("gpt2-wasm", { create: true });
    return home.getDirectoryHandle(name, { create: true });
  }

  /** The part of `navigator` that leads to it. */
  readonly navigator = {
    storage: {
      getDirectory: async () => {
        await this.before("root");
        return this.root;
      },
      estimate: async () => ({ quota: this.quota, usage: this.used() }),
      persisted: async () => false,
      persist: async () => true,
    },
    locks: new FakeLocks(),
  };
}

/** Web Locks within one process: exclusive ones, that wait for each other, and shared ones, that never wait. */
export class FakeLocks {
  private readonly last = new Map<string, Promise<unknown>>();
  private readonly held: string[] = [];

  async query() {
    return { held: this.held.map((name) => ({ name })) };
  }

  async request(
    name: string,
    ...rest: [{ signal?: AbortSignal; mode?: LockMode }, () => Promise<unknown>] | [() => Promise<unknown>]
  ): Promise<unknown> {
    const run = rest.at(-1) as () => Promise<unknown>;
    const { signal, mode = "exclusive" } = rest.length === 2 ? rest[0] : {};
    const before = (mode === "exclusive" && this.last.get(name)) || Promise.resolve();
    let done: () => void = () => {};
    const mine = new Promise<void>((resolve) => (done = resolve));
    if (mode === "exclusive") {
      this.last.set(
        name,
        before.then(() => mine),
      );
    }
    try {
      await Promise.race([
        before,
        new Promise<never>((_, reject) => {
          signal?.addEventListener("abort", () => reject(error("AbortError")));
        }),
      ]);
      this.held.push(name);
      return await run();
    } finally {
      const place = this.held.indexOf(name);
      if (place >= 0) this.held.splice(place, 1);
      done();
    }
  }
}
