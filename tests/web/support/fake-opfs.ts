// An origin private file system in memory, with what a worker has of it: handles that one writes through at a time.

const error = (name: string) => new DOMException(name, name);

class FakeFile {
  readonly kind = "file";
  bytes = new Uint8Array();
  modified = Date.now();
  isOpen = false;

  readonly name: string;
  private readonly disk: FakeDisk;

  constructor(name: string, disk: FakeDisk) {
    this.name = name;
    this.disk = disk;
  }

  async getFile(): Promise<File> {
    return new File([this.bytes], this.name, { lastModified: this.modified });
  }

  async createSyncAccessHandle({ mode = "readwrite" } = {}) {
    if (this.isOpen) throw error("NoModificationAllowedError");
    const isWriter = mode !== "read-only";
    if (isWriter) this.isOpen = true;
    return {
      getSize: () => this.bytes.length,
      read: (into: Uint8Array, { at }: { at: number }) => {
        const part = this.bytes.subarray(at, at + into.length);
        into.set(part);
        return part.length;
      },
      write: (bytes: Uint8Array, { at }: { at: number }) => {
        const size = Math.max(this.bytes.length, at + bytes.length);
        if (this.disk.used() + size - this.bytes.length > this.disk.quota) throw error("QuotaExceededError");
        const next = new Uint8Array(size);
        next.set(this.bytes);
        next.set(bytes, at);
        this.bytes = next;
        this.modified = this.disk.now++;
        return bytes.length;
      },
      truncate: (size: number) => void (this.bytes = this.bytes.slice(0, size)),
      flush: () => {},
      close: () => {
        if (isWriter) this.isOpen = false;
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
    const found = this.folders.get(name) ?? (create ? new FakeFolder(this.disk) : undefined);
    if (!found) throw error("NotFoundError");
    this.folders.set(name, found);
    return found;
  }

  async getFileHandle(name: string, { create = false } = {}): Promise<FakeFile> {
    const found = this.files.get(name) ?? (create ? new FakeFile(name, this.disk) : undefined);
    if (!found) throw error("NotFoundError");
    this.files.set(name, found);
    return found;
  }

  async removeEntry(name: string): Promise<void> {
    if (this.files.get(name)?.isOpen) throw error("NoModificationAllowedError");
    if (!this.files.delete(name)) throw error("NotFoundError");
  }

  async *entries(): AsyncGenerator<[string, FakeFile]> {
    yield* [...this.files];
  }
}

export class FakeDisk {
  quota = Infinity;
  /** Goes on with every write. */
  now = 1_000_000;
  readonly root = new FakeFolder(this);

  used(): number {
    const sizeOf = (folder: FakeFolder): number =>
      [...folder.files.values()].reduce((sum, { bytes }) => sum + bytes.length, 0) +
      [...folder.folders.values()].reduce((sum, inside) => sum + sizeOf(inside), 0);
    return sizeOf(this.root);
  }

  /** A folder of the store. */
  async folder(name: string): Promise<FakeFolder> {
    const home = await this.root.getDirectoryHandle("gpt2-wasm", { create: true });
    return home.getDirectoryHandle(name, { create: true });
  }

  /** What `navigator` has of it. */
  readonly navigator = {
    storage: {
      getDirectory: async () => this.root,
      estimate: async () => ({ quota: this.quota, usage: this.used() }),
      persisted: async () => false,
      persist: async () => true,
    },
    locks: new FakeLocks(),
  };
}

/** Web Locks within one process: exclusive ones, that wait for each other. */
export class FakeLocks {
  private readonly last = new Map<string, Promise<unknown>>();

  async request(
    name: string,
    ...rest: [{ signal?: AbortSignal }, () => Promise<unknown>] | [() => Promise<unknown>]
  ): Promise<unknown> {
    const run = rest.at(-1) as () => Promise<unknown>;
    const signal = rest.length === 2 ? rest[0].signal : undefined;
    const before = this.last.get(name) ?? Promise.resolve();
    let done: () => void = () => {};
    const mine = new Promise<void>((resolve) => (done = resolve));
    this.last.set(
      name,
      before.then(() => mine),
    );
    try {
      await Promise.race([
        before,
        new Promise<never>((_, reject) => {
          signal?.addEventListener("abort", () => reject(error("AbortError")));
        }),
      ]);
      return await run();
    } finally {
      done();
    }
  }
}
