// A store in memory, whose clock the test turns.
import type { Appender, Folder, Store, StoredFile } from "../../../web/src/model/store/store.js";

export class MemoryStore implements Store {
  readonly kind = "opfs";
  now = 0;
  /** Names of files that are being written, and cannot be removed. */
  readonly busy = new Set<string>();
  readonly files = new Map<string, { bytes: Uint8Array<ArrayBuffer>; modified: number }>();

  put(folder: Folder, name: string, bytes: string | number, modified = this.now): void {
    const content = typeof bytes === "string" ? new TextEncoder().encode(bytes) : new Uint8Array(bytes);
    this.files.set(`${folder}/${name}`, { bytes: content, modified });
  }
  names(folder: Folder): string[] {
    return [...this.files.keys()].flatMap((path) =>
      path.startsWith(`${folder}/`) ? [path.slice(folder.length + 1)] : [],
    );
  }
  async size(folder: Folder, name: string): Promise<number | undefined> {
    return this.files.get(`${folder}/${name}`)?.bytes.length;
  }
  async read(folder: Folder, name: string, from = 0): Promise<ReadableStream<Uint8Array> | undefined> {
    const file = this.files.get(`${folder}/${name}`);
    return file && new Blob([file.bytes.slice(from)]).stream();
  }
  async append(folder: Folder, name: string, at: number): Promise<Appender> {
    const path = `${folder}/${name}`;
    let bytes = (this.files.get(path)?.bytes ?? new Uint8Array()).slice(0, at);
    return {
      write: (more) => {
        bytes = new Uint8Array([...bytes, ...more]);
        this.files.set(path, { bytes, modified: this.now });
      },
      close: async () => void this.files.set(path, { bytes, modified: this.now }),
    };
  }
  async remove(folder: Folder, name: string): Promise<void> {
    if (this.busy.has(name)) throw new DOMException("it is being written", "NoModificationAllowedError");
    this.files.delete(`${folder}/${name}`);
  }
  async list(folder: Folder): Promise<StoredFile[]> {
    return this.names(folder).map((name) => {
      const { bytes, modified } = this.files.get(`${folder}/${name}`) ?? { bytes: [], modified: 0 };
      return { name, size: bytes.length, modified };
    });
  }
}
