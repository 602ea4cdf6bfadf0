// Cuts a file into the pieces of a model folder, and hashes them (weights_tools/FORMAT.md, "Pieces").
import { createHash, type Hash } from "node:crypto";
import { open, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import type { Piece } from "../loader/weights-index.js";

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
  private hash: Hash | undefined;
  private file: FileHandle | undefined;
  private size = 0;
  private readonly folder: string;
  private readonly most: number;

  /** `total`: all bytes that will be written. */
  constructor(folder: string, total: number) {
    this.folder = folder;
    this.most = pieceBytes(total);
  }

  private get path(): string {
    return `model.safetensors.${String(this.pieces.length).padStart(3, "0")}`;
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.whole.update(bytes);
    for (let rest = bytes; rest.length > 0;) {
      this.file ??= await open(join(this.folder, this.path), "wx");
      const part = rest.subarray(0, this.most - this.size);
      await this.file.writeFile(part);
      this.hash ??= createHash("sha256");
      this.hash.update(part);
      this.size += part.length;
      rest = rest.subarray(part.length);
      if (this.size === this.most) await this.endPiece();
    }
  }

  /** Ends the last piece. Returns the hash of the whole file. */
  async end(): Promise<string> {
    await this.endPiece();
    return this.whole.digest("hex");
  }

  async close(): Promise<void> {
    await this.file?.close();
    this.file = undefined;
  }

  private async endPiece(): Promise<void> {
    if (!this.file || !this.hash) return;
    await this.file.sync();
    await this.close();
    this.pieces.push({ path: this.path, size: this.size, sha256: this.hash.digest("hex") });
    this.hash = undefined;
    this.size = 0;
  }
}
