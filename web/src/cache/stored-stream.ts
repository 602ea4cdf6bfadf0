// A file that has no index, such as one that is converted while it is read: it is stored in pieces of our own making.
import { byteReader } from "../loader/byte-reader.js";
import type { OpenFile } from "../loader/model-source.js";
import type { Piece } from "../loader/weights-index.js";
import { sha256 } from "../loader/sha256.js";
import { streamOf } from "../shared/stream-of.js";
import { readRight } from "./stored-piece.js";
import { writeFile, type Store } from "./store.js";

/** One is held while it fills, and once more while its hash is computed. */
const pieceBytes = 2 * 1024 * 1024;

export interface StreamEnds {
  /** The pieces that are stored already, which come before what is read. */
  stored: readonly Piece[];
  /** Called after each piece, with all that are stored by then. Returns whether to store more. */
  onPiece: (pieces: readonly Piece[]) => boolean;
  /** Called once all of it has been read and stored. */
  onStored: (pieces: Piece[]) => Promise<void>;
  /** Called when it cannot be stored; it can still be read. */
  onRefusal: (error: unknown) => void;
}

/** `file`, or the rest of it, of which each piece is stored as soon as it has passed. */
export function storeStream(
  store: Store,
  name: string,
  file: OpenFile,
  { stored, onPiece, onStored, onRefusal }: StreamEnds,
): OpenFile {
  const reader = byteReader(file.stream);
  const pieces: Piece[] = [...stored];
  let buffer: Uint8Array<ArrayBuffer> | undefined = new Uint8Array(pieceBytes);
  let filled = 0;
  const flush = async (): Promise<void> => {
    if (!buffer || filled === 0) return;
    const bytes = buffer.subarray(0, filled);
    filled = 0;
    try {
      const piece = {
        path: `${name}.${String(pieces.length).padStart(3, "0")}`,
        size: bytes.length,
        sha256: await sha256(bytes),
      };
      if (!(await readRight(store, piece))) {
        await writeFile(store, "blobs", piece.sha256, bytes);
      }
      pieces.push(piece);
      if (!onPiece(pieces)) buffer = undefined;
    } catch (error) {
      buffer = undefined;
      onRefusal(error);
    }
  };
  const add = async (chunk: Uint8Array): Promise<void> => {
    for (let rest = chunk; buffer && rest.length > 0;) {
      const part = rest.subarray(0, pieceBytes - filled);
      buffer.set(part, filled);
      filled += part.length;
      rest = rest.subarray(part.length);
      if (filled === pieceBytes) await flush();
    }
  };
  async function* passing(): AsyncGenerator<Uint8Array, void> {
    try {
      for (let chunk; (chunk = await reader.read());) {
        await add(chunk);
        yield chunk;
      }
    } finally {
      reader.cancel().catch(() => {});
    }
    await flush();
    if (buffer) await onStored(pieces);
  }
  return { ...file, stream: streamOf(passing()) };
}
