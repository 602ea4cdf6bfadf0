// A store that makes room while it writes. A browser's estimate in advance may be far from the actual limit.
import { isFull } from "./store.js";
import { evict } from "./room.js";
import type { Appender, Folder, Store, StoredFile } from "./store.js";

/** If a write fails although so many more bytes were freed than it needs, something else is full. */
const enoughBytes = 16 * 1024 * 1024;

/** `store`, but a write that finds no room is retried as long as removing a model may help. */
export class RoomyStore implements Store {
  readonly kind: Store["kind"];
  private readonly store: Store;
  private readonly id: string;
  private readonly alone: <T>(change: () => Promise<T>) => Promise<T>;

  /** `id` is the model that is written. `alone` runs a function that removes models while no other tab does. */
  constructor(store: Store, id: string, alone: RoomyStore["alone"]) {
    this.kind = store.kind;
    this.store = store;
    this.id = id;
    this.alone = alone;
  }

  size(folder: Folder, name: string): Promise<number | undefined> {
    return this.store.size(folder, name);
  }

  read(folder: Folder, name: string, from?: number): Promise<ReadableStream<Uint8Array> | undefined> {
    return this.store.read(folder, name, from);
  }

  async append(folder: Folder, name: string, at: number): Promise<Appender> {
    const appender = await this.insist(() => this.store.append(folder, name, at));
    return {
      write: (bytes) => this.insist(async () => appender.write(bytes), bytes.length),
      close: () => this.insist(() => appender.close()),
    };
  }

  remove(folder: Folder, name: string): Promise<void> {
    return this.store.remove(folder, name);
  }

  list(folder: Folder): Promise<StoredFile[]> {
    return this.store.list(folder);
  }

  private async insist<T>(write: () => Promise<T>, size = 0): Promise<T> {
    try {
      return await write();
    } catch (error) {
      if (!isFull(error)) throw error;
    }
    return this.alone(() => this.insistAlone(write, size + enoughBytes));
  }

  private async insistAlone<T>(write: () => Promise<T>, enough: number): Promise<T> {
    for (let freed = 0; ;) {
      try {
        return await write(); // another write may have made room in the meantime
      } catch (error) {
        const more = isFull(error) && freed < enough ? await evict(this.store, this.id) : undefined;
        if (more === undefined) throw error;
        freed += more;
      }
    }
  }
}
