// A store in the origin private file system. Written bytes are durable at once, even if the page dies. It reads 132 MB
// in 0.2 s; Cache Storage takes 0.4 s.
import type { Appender, Folder, Store, StoredFile } from "./store.js";

const home = "gpt2-wasm";

/** `promise`, or undefined if there is no such file. */
async function unlessMissing<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if ((error as DOMException).name === "NotFoundError") return undefined;
    throw error;
  }
}

/** Only workers have this method. */
type Syncable = Omit<FileSystemFileHandle, "createSyncAccessHandle"> & {
  createSyncAccessHandle?: (options?: { mode: "read-only" }) => Promise<FileSystemSyncAccessHandle>;
};

/**
 * Returns the result of `action`. If it throws, closes `handle`, because a file with an open handle cannot be replaced or
 * removed.
 */
function closingOnError<T>(handle: FileSystemSyncAccessHandle, action: () => T): T {
  try {
    return action();
  } catch (error) {
    handle.close();
    throw error;
  }
}

/** Bytes per read: a small buffer is allocated quickly, and is still in the processor's cache when copied. */
const portion = 1024 * 1024;

/** The rest of a file, read through its own handle; undefined if it cannot be opened. */
async function readSync(file: Syncable, from: number): Promise<ReadableStream<Uint8Array> | undefined> {
  let open: FileSystemSyncAccessHandle | undefined;
  try {
    // Allows several readers. In a browser without modes, a second reader cannot open the file.
    open = await file.createSyncAccessHandle?.({ mode: "read-only" });
  } catch {
    return undefined;
  }
  if (!open) return undefined;
  const handle = open;
  const memory = new Uint8Array(Math.max(0, Math.min(portion, handle.getSize() - from)));
  let at = from;
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const count = closingOnError(handle, () => handle.read(memory, { at }));
    at += count;
    if (count > 0) return controller.enqueue(memory.subarray(0, count));
    handle.close();
    controller.close();
  };
  return new ReadableStream({ pull, cancel: () => handle.close() }, { highWaterMark: 0 });
}

/** In Chromium, the returned number of written bytes if there is no room: its error -8 as an unsigned number. */
const noSpace = 2 ** 32 - 8;

export class OpfsStore implements Store {
  readonly kind = "opfs";
  private readonly root: FileSystemDirectoryHandle;
  /** Open folders: each open costs a message to another process. */
  private readonly folders = new Map<Folder, FileSystemDirectoryHandle>();

  private constructor(root: FileSystemDirectoryHandle) {
    this.root = root;
  }

  /** undefined if nothing was stored. Rejects if the browser lacks the file system or refuses it to this page. */
  static async find(): Promise<OpfsStore | undefined> {
    const root = await navigator.storage.getDirectory();
    const found = await unlessMissing(root.getDirectoryHandle(home));
    return found && new OpfsStore(found);
  }

  /** Rejects if the browser lacks the file system or refuses it to this page. */
  static async open(): Promise<OpfsStore> {
    const root = await navigator.storage.getDirectory();
    return new OpfsStore(await root.getDirectoryHandle(home, { create: true }));
  }

  async size(folder: Folder, name: string): Promise<number | undefined> {
    const file = await this.find(folder, name);
    return file && (await unlessMissing(file.getFile()))?.size;
  }

  async read(folder: Folder, name: string, from = 0): Promise<ReadableStream<Uint8Array> | undefined> {
    const file = await this.find(folder, name);
    if (!file) return undefined;
    return (await readSync(file, from)) ?? (await unlessMissing(file.getFile()))?.slice(from).stream();
  }

  async append(folder: Folder, name: string, at: number): Promise<Appender> {
    const inside = await this.root.getDirectoryHandle(folder, { create: true });
    const file: Syncable = await inside.getFileHandle(name, { create: true });
    if (!file.createSyncAccessHandle) return markOnly;
    const open = await file.createSyncAccessHandle();
    if (folder === "blobs") closingOnError(open, () => open.truncate(at));
    let end = at;
    let hasFailed = true; // if nothing could be written, the file stays unchanged
    return {
      write(bytes) {
        hasFailed = true;
        const written = open.write(bytes, { at: end });
        if (written < bytes.length || written === noSpace) {
          throw new DOMException("the disk is full", "QuotaExceededError");
        }
        if (written > bytes.length) throw new DOMException("writing failed", "InvalidStateError");
        end += written;
        hasFailed = false;
      },
      async close() {
        try {
          if (!hasFailed && open.getSize() > end) open.truncate(end);
        } finally {
          open.close();
        }
      },
    };
  }

  async remove(folder: Folder, name: string): Promise<void> {
    const inside = await unlessMissing(this.root.getDirectoryHandle(folder));
    if (inside) await unlessMissing(inside.removeEntry(name));
  }

  async list(folder: Folder): Promise<StoredFile[]> {
    const inside = await unlessMissing(this.root.getDirectoryHandle(folder));
    const found: StoredFile[] = [];
    for await (const [name, handle] of inside?.entries() ?? []) {
      if (handle.kind !== "file") continue;
      // An unreadable file exists, but is useless.
      const unreadable = { size: 0, lastModified: 0 };
      const reading = (handle as FileSystemFileHandle).getFile();
      const file = await unlessMissing(reading).catch(() => unreadable);
      if (file) found.push({ name, size: file.size, modified: file.lastModified });
    }
    return found;
  }

  private async find(folder: Folder, name: string): Promise<Syncable | undefined> {
    const inside = this.folders.get(folder) ?? (await unlessMissing(this.root.getDirectoryHandle(folder)));
    if (inside) this.folders.set(folder, inside);
    return inside && unlessMissing(inside.getFileHandle(name));
  }
}

/** A page's own thread can only create empty files. */
const markOnly: Appender = {
  write(bytes) {
    if (bytes.length > 0) throw new TypeError("only a worker writes to the origin private file system");
  },
  async close() {},
};
