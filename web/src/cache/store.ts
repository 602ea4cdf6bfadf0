// Where bytes are kept on this device: an interface over what browsers have for it.
import { byteReader } from "../loader/byte-reader.js";
import { joined } from "../shared/joined.js";

/** What the store is divided into. */
export type Folder =
  /** Files of models, each under the SHA-256 of what it is to hold. One that is shorter is still on its way. */
  | "blobs"
  /** A record for each version of each model; see records.ts. */
  | "models"
  /** Empty files, named after the models that the user keeps. */
  | "kept"
  /** Empty files, named after the records whose model has changed at its host. */
  | "changed";

export interface StoredFile {
  name: string;
  /** In bytes. */
  size: number;
  /** When it was written last, in milliseconds since 1970. */
  modified: number;
}

/** Writes on at the end of a file. */
export interface Appender {
  /** Throws where there is no room (QuotaExceededError); how much of `bytes` is there then is not known. */
  write(bytes: Uint8Array): void;
  /** What was written is the file's from now on. */
  close(): Promise<void>;
}

/** Files by folder and name. Nothing is said of what they hold: whoever reads them checks it. */
export interface Store {
  readonly kind: "opfs" | "cache-storage";
  /** In bytes; undefined where there is no such file. */
  size(folder: Folder, name: string): Promise<number | undefined>;
  /**
   * The file from byte `from` on, in chunks that are valid until the next is asked for; undefined where there is none, or it
   * cannot be read now.
   */
  read(folder: Folder, name: string, from?: number): Promise<ReadableStream<Uint8Array> | undefined>;
  /** Opens a file, or makes it, to write behind its first `at` bytes; the rest of it is cut off. */
  append(folder: Folder, name: string, at: number): Promise<Appender>;
  remove(folder: Folder, name: string): Promise<void>;
  list(folder: Folder): Promise<StoredFile[]>;
}

/** All of a stream. */
export async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const reader = byteReader(stream);
  const chunks: Uint8Array[] = [];
  for (let chunk; (chunk = await reader.read());) chunks.push(chunk.slice());
  return joined(chunks);
}

/** Replaces a file by `bytes`. A death in between leaves a part, which whoever reads it finds out. */
export async function writeFile(
  store: Store,
  folder: Folder,
  name: string,
  bytes: Uint8Array = new Uint8Array(),
): Promise<void> {
  const file = await store.append(folder, name, 0);
  try {
    file.write(bytes);
  } finally {
    await file.close();
  }
}
