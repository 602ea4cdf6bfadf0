// weights.json: the pieces of a model's weights, with their sizes and hashes.
import { LoadError } from "../shared/errors.js";

export interface Piece {
  path: string;
  /** In bytes. */
  size: number;
  /** Lower-case hexadecimal. */
  sha256: string;
}

export interface WeightsIndex {
  size: number;
  pieces: Piece[];
}

/** Larger pieces than the tools write would have to be held whole before they are checked. */
const largestPiece = 64 * 1024 * 1024;

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function isSize(value: unknown, most: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= most;
}

function parsePiece(value: unknown, index: number): Piece {
  if (
    isRecord(value) &&
    typeof value.path === "string" &&
    /^[\w-][\w.-]*$/.test(value.path) &&
    isSize(value.size, largestPiece) &&
    typeof value.sha256 === "string" &&
    /^[0-9a-f]{64}$/.test(value.sha256)
  ) {
    return { path: value.path, size: value.size, sha256: value.sha256 };
  }
  throw new LoadError(
    "corrupt",
    `weights.json: piece ${index} is not {"path": file name, "size": bytes, "sha256": hex}`,
  );
}

export function parseWeightsIndex(text: string): WeightsIndex {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new LoadError("corrupt", `weights.json is not valid JSON: ${String(error)}`);
  }
  if (!isRecord(value) || !Array.isArray(value.pieces) || !isSize(value.size, Number.MAX_SAFE_INTEGER)) {
    throw new LoadError("corrupt", 'weights.json: expected "size" in bytes and a list "pieces"');
  }
  const pieces = value.pieces.map(parsePiece);
  const twice = pieces.find(({ path }, i) => pieces.findIndex((other) => other.path === path) < i);
  if (twice) throw new LoadError("corrupt", `weights.json lists "${twice.path}" twice`);
  const total = pieces.reduce((sum, piece) => sum + piece.size, 0);
  if (total !== value.size) {
    throw new LoadError(
      "corrupt",
      `weights.json: its pieces are ${total} bytes together, its size is ${value.size}`,
    );
  }
  return { size: value.size, pieces };
}
