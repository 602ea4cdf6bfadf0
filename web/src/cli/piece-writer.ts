// Cuts a file into the pieces of a model folder, and hashes them (weights_tools/FORMAT.md, "Pieces").
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Piece } from "../model/weights-index.js";

const smallest = 4 << 20;
const mostPieces = 1000;

/** Bytes of each piece of a file of `total` bytes, except for the last. */
function pieceBytes(total: number): number {
  let bytes = smallest;
  while (bytes * mostPieces < total) bytes *= 2;
  return bytes;
}

export class PieceWriter {
  readonly pieces: Piece[] = [];
  private readonly whole = createHash("sha256");
  /** The current piece. */
  private readonly piece: Uint8Array;
  private filled = 0;
  private readonly folder: string;

  /** `total`: all bytes that will be written. */
  constructor(folder: string, total: number) {
    this.folder = folder;
    this.piece = new Uint8Array(pieceBytes(total));
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let rest = bytes; rest.length > 0;) {
      const part = rest.subarray(0, this.piece.length - this.filled);
      this.piece.set(part, this.filled);
      this.filled += part.length;
      rest = rest.subarray(part.length);
      if (this.filled === this.piece.length) await this.endPiece();
    }
  }

  /** Ends the last piece. Returns the hash of the whole file. */
  async end(): Promise<string> {
    if (this.filled > 0) await this.endPiece();
    return this.whole.digest("hex");
  }

  private async endPiece(): Promise<void> {
    const bytes = this.piece.subarray(0, this.filled);
    const path = `model.safetensors.${String(this.pieces.length).padStart(3, "0")}`;
    await writeFile(join(this.folder, path), bytes, { flag: "wx", flush: true });
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    this.pieces.push({ path, size: bytes.length, sha256 });
    this.whole.update(bytes);
    this.filled = 0;
  }
}
