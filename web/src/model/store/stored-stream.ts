// A file without an index, such as one that is converted while it is read. It is stored in pieces of our own.
import { byteReader, streamOf } from "../sources/byte-streams.js";
import type { OpenFile } from "../sources/model-source.js";
import type { Piece } from "../weights-index.js";
import { sha256 } from "../sha256.js";
import { readRight } from "./stored-piece.js";
import { writeFile, type Store } from "./store.js";

/** A piece is in memory while it fills, and again while its hash is computed. */
const pieceBytes = 2 * 1024 * 1024;

export interface StreamEnds {
  /** The pieces that are stored already, which precede those of the stream. */
  stored: readonly Piece[];
  /** Called after each piece, with all pieces stored so far. Returns whether to store more. */
  onPiece: (pieces: readonly Piece[]) => boolean;
  /** Called after everything is read and stored. */
  onStored: (pieces: Piece[]) => Promise<void>;
  /** Called if the file cannot be stored; it can still be read. */
  onRefusal: (error: unknown) => void;
}

/** `file`, or its rest, whose pieces are stored as they pass. */
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
