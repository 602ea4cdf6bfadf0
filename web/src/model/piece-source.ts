// Reads and verifies the pieces of a model's weights.
import { LoadError } from "../shared/errors.js";
import type { LoadProgress } from "../shared/types.js";
import { chunksOf, type ModelSource } from "./sources/model-source.js";
import { ChangedFileError } from "./sources/steady-fetch.js";
import { quotedText } from "./sources/weight-chunks.js";
import { wrongHash, type Piece } from "./weights-index.js";

export type Bytes = Uint8Array<ArrayBuffer>;

/** SHA-256 of some bytes, in lower-case hexadecimal. */
export type Hash = (bytes: Bytes) => Promise<string>;

export interface PieceOptions {
  signal: AbortSignal;
  /** Called with the number of bytes that arrived (negative if they are discarded) and their origin. */
  onBytes: (bytes: number, origin: LoadProgress["source"]) => void;
}

export interface PieceSource {
  /** Fills `room`, which has the piece's size and may become free later. Resolves after the hash is verified. */
  read(piece: Piece, room: Promise<Bytes>, options: PieceOptions): Promise<void>;
}

/**
 * Attempts for a piece whose host reports changing versions: several servers behind one address may send different tags.
 */
const mostChanges = 3;

const corrupt = (message: string) => new LoadError("corrupt", message);

/** The pieces of a model's folder. */
export class NetworkPieces implements PieceSource {
  private readonly source: ModelSource;
  private readonly hash: Hash;
  /** One at a time, because browsers copy what they hash. */
  private hashing: Promise<unknown> = Promise.resolve();

  constructor(source: ModelSource, hash: Hash) {
    this.source = source;
    this.hash = hash;
  }

  /**
   * A cache may keep a damaged piece forever, so it is fetched once more, bypassing all caches. A piece whose rest
   * comes from another version is fetched again as a whole; its hash decides whether it is right.
   */
  async read(piece: Piece, room: Promise<Bytes>, options: PieceOptions): Promise<void> {
    let damaged = 0;
    let changed = 0;
    for (;;) {
      try {
        return await this.fetch(piece, room, options, damaged + changed > 0);
      } catch (error) {
        const isChanged = error instanceof ChangedFileError && (changed += 1) <= mostChanges;
        const isDamaged = error instanceof LoadError && error.code === "corrupt" && (damaged += 1) <= 1;
        if (!isChanged && !isDamaged) throw error;
      }
    }
  }

  private async fetch(
    piece: Piece,
    room: Promise<Bytes>,
    { signal, onBytes }: PieceOptions,
    reload: boolean,
  ): Promise<void> {
    const { path, size } = piece;
    let received = 0;
    try {
      const file = await this.source.open(path, { signal, reload });
      const into = await room.catch((reason: unknown) => {
        file.stream.cancel().catch(() => {});
        throw reason;
      });
      for await (const chunk of chunksOf(file, path, signal)) {
        if (received + chunk.length > size) {
          const text = quotedText(path, received > 0 ? into.subarray(0, received) : chunk);
          throw corrupt(`${path} is longer than the ${size} bytes that weights.json says${text}`);
        }
        into.set(chunk, received);
        received += chunk.length;
        onBytes(chunk.length, file.origin ?? "network");
      }
      if (received < size) {
        const text = quotedText(path, into.subarray(0, received));
        throw corrupt(`${path} is ${received} bytes, weights.json says ${size}${text}`);
      }
      const hashed = this.hashing.then(() => this.hash(into));
      this.hashing = hashed.catch(() => {});
      const found = await hashed;
      if (found !== piece.sha256) throw wrongHash(piece, found);
    } catch (error) {
      onBytes(-received, "network");
      throw error;
    }
  }
}
