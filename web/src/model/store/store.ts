// Storage for bytes on this device: an interface over the browser's kinds of storage.
import { byteReader } from "../sources/byte-streams.js";
import { joined } from "../../shared/joined.js";

/** The parts of a store. */
export type Folder =
  /** Files of models, each named by the SHA-256 of its complete contents. A shorter file is incomplete. */
  | "blobs"
  /** One record per version of a model; see records.ts. */
  | "models"
  /** Empty files, named after the models that the user keeps. */
  | "kept"
  /** Empty files, named after records whose host has a newer version. */
  | "changed";

export interface StoredFile {
  name: string;
  /** In bytes. */
  size: number;
  /** When it was last written, in milliseconds since 1970. */
  modified: number;
}

/** Appends to a file. A call that fails for lack of room (QuotaExceededError) may be repeated. */
export interface Appender {
  write(bytes: Uint8Array): void | Promise<void>;
  /** Makes the written bytes the file's contents. */
  close(): Promise<void>;
}

/** Files by folder and name. The store does not verify their contents: the reader does. */
export interface Store {
  readonly kind: "opfs" | "cache-storage";
  /** In bytes; undefined if there is no such file. */
  size(folder: Folder, name: string): Promise<number | undefined>;
  /**
   * The file from byte `from` on. Each chunk is valid until the next is requested. Undefined if the file is missing, or
   * cannot be read now.
   */
  read(folder: Folder, name: string, from?: number): Promise<ReadableStream<Uint8Array> | undefined>;
  /**
   * Opens or creates a file for writing after its first `at` bytes. The rest of a blob is cut off at once, so that no
   * mixture of two contents has its full size. The rest of any other file is cut off on closing, so that it is never
   * empty in between.
   */
  append(folder: Folder, name: string, at: number): Promise<Appender>;
  remove(folder: Folder, name: string): Promise<void>;
  list(folder: Folder): Promise<StoredFile[]>;
}

/** All bytes of a stream. */
export async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const reader = byteReader(stream);
  const chunks: Uint8Array[] = [];
  for (let chunk; (chunk = await reader.read());) chunks.push(chunk.slice());
  return joined(chunks);
}

type Read = (store: Store, folder: Folder, name: string) => Promise<Uint8Array<ArrayBuffer> | undefined>;

/** All bytes of a file; undefined if there is none. */
export const readWhole: Read = async (store, folder, name) => {
  const stream = await store.read(folder, name);
  return stream && bytesOf(stream);
};

/** All bytes of a file; undefined if there is none or it cannot be read. */
export const readIfPossible: Read = (...file) => readWhole(...file).catch(() => undefined);

/** Replaces the contents of a file. If the tab ends in between, the file is mixed or short: readers must check it. */
export async function writeFile(
  store: Store,
  folder: Folder,
  name: string,
  bytes: Uint8Array = new Uint8Array(),
): Promise<void> {
  const file = await store.append(folder, name, 0);
  try {
    await file.write(bytes);
  } finally {
    await file.close();
  }
}

/** Whether a write failed because the storage is full. */
export const isFull = (error: unknown) => (error as Error | null)?.name === "QuotaExceededError";
