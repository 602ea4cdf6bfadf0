// A store that always answers: a browser's file system may wait forever, for example after its process has died.
import { byteReader } from "../sources/byte-streams.js";
import { LoadError } from "../../shared/errors.js";
import { inTime } from "../../shared/in-time.js";
import type { Appender, Folder, Store, StoredFile } from "./store.js";

/** The slowest disks need less time for one piece of a model. */
const patienceMs = 15_000;
const silent = `the browser's storage has not answered for ${patienceMs / 1000} s`;

/** `promise`, but rejects if the browser's storage does not answer in time. */
export const answerOf = <T>(promise: Promise<T>): Promise<T> => inTime(promise, patienceMs, silent);

/** `store`, but a call that gets no answer in time rejects, and every later call rejects at once. */
export class BoundedStore implements Store {
  readonly kind: Store["kind"];
  private readonly store: Store;
  private failure: Error | undefined;

  constructor(store: Store) {
    this.kind = store.kind;
    this.store = store;
  }

  size(folder: Folder, name: string): Promise<number | undefined> {
    return this.ask(() => this.store.size(folder, name));
  }

  async read(folder: Folder, name: string, from = 0): Promise<ReadableStream<Uint8Array> | undefined> {
    const stream = await this.ask(() => this.store.read(folder, name, from));
    return stream && this.bounded(stream, name);
  }

  async append(folder: Folder, name: string, at: number): Promise<Appender> {
    const appender = await this.ask(() => this.store.append(folder, name, at));
    return {
      write: (bytes) => appender.write(bytes),
      close: () => this.ask(() => appender.close()),
    };
  }

  remove(folder: Folder, name: string): Promise<void> {
    return this.ask(() => this.store.remove(folder, name));
  }

  list(folder: Folder): Promise<StoredFile[]> {
    return this.ask(() => this.store.list(folder));
  }

  private async ask<T>(action: () => Promise<T>): Promise<T> {
    if (this.failure) throw this.failure;
    try {
      return await answerOf(action());
    } catch (error) {
      if (error instanceof Error && error.message === silent) this.failure = error;
      throw error;
    }
  }

  /** A failed read gives the same error as damage, so that the reader falls back to the network. */
  private bounded(stream: ReadableStream<Uint8Array>, name: string): ReadableStream<Uint8Array> {
    const reader = byteReader(stream);
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
      try {
        const chunk = await this.ask(() => reader.read());
        if (chunk) controller.enqueue(chunk);
        else controller.close();
      } catch (error) {
        reader.cancel().catch(() => {});
        controller.error(
          new LoadError("corrupt", `the stored file ${name} cannot be read: ${String(error)}`),
        );
      }
    };
    return new ReadableStream({ pull, cancel: (reason) => reader.cancel(reason) }, { highWaterMark: 0 });
  }
}
