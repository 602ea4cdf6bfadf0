// Streams a model's weights, piece by piece: while one is checked and handed on, the next arrives.
import { isLoadError, LoadError } from "../shared/errors.js";
import { readChunks, type ModelSource, type OpenFile } from "./model-source.js";
import type { Piece, WeightsIndex } from "./weights-index.js";

/** SHA-256 of some bytes, in lower-case hexadecimal. */
export type Hash = (bytes: Uint8Array<ArrayBuffer>) => Promise<string>;

export interface WeightSink {
  /** Takes the next bytes of model.safetensors; they may be overwritten after it returns. */
  take(bytes: Uint8Array): void;
  hash: Hash;
  /** Bytes that have arrived so far. */
  onBytes(loadedBytes: number): void;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Reads a piece into `buffer`; `onChunk` receives the number of bytes, negative where they are discarded. */
async function fetchPiece(
  source: ModelSource,
  piece: Piece,
  buffer: Bytes,
  signal: AbortSignal,
  onChunk: (bytes: number) => void,
  anew = false,
): Promise<void> {
  let received = 0;
  try {
    await readChunks(await source.open(piece.path, { signal, anew }), piece.path, signal, (chunk) => {
      if (received + chunk.length > piece.size) throw tooLong(piece);
      buffer.set(chunk, received);
      received += chunk.length;
      onChunk(chunk.length);
    });
    if (received < piece.size) throw tooShort(piece, received);
  } catch (error) {
    onChunk(-received);
    throw error;
  }
}

const tooLong = ({ path, size }: Piece) =>
  new LoadError("corrupt", `${path} is longer than the ${size} bytes that weights.json says`);
const tooShort = ({ path, size }: Piece, found: number) =>
  new LoadError("corrupt", `${path} is ${found} bytes, weights.json says ${size}`);

const isCorrupt = (error: unknown) => isLoadError(error) && error.code === "corrupt";

/** Streams all pieces in order into `sink`. No byte is handed on before its piece's hash is right. */
export async function loadPieces(
  source: ModelSource,
  index: WeightsIndex,
  sink: WeightSink,
  signal: AbortSignal,
): Promise<void> {
  // Two buffers take turns: one piece arrives while the one before it is checked and taken.
  const largest = index.pieces.reduce((most, piece) => Math.max(most, piece.size), 0);
  const buffers = [0, 1].map(() => new Uint8Array(largest));
  let loaded = 0;
  let checking: Promise<void> = Promise.resolve();
  for (const [number, piece] of index.pieces.entries()) {
    const buffer = buffers[number % 2] ?? new Uint8Array(piece.size);
    const onChunk = (bytes: number) => sink.onBytes((loaded += bytes));
    const fetchAnew = () => fetchPiece(source, piece, buffer, signal, onChunk, true);
    const arriving = fetchPiece(source, piece, buffer, signal, onChunk).catch((error: unknown) => {
      if (isCorrupt(error)) return fetchAnew();
      throw error;
    });
    await Promise.all([arriving, checking]);
    signal.throwIfAborted();
    checking = checkAndTake(piece, buffer.subarray(0, piece.size), sink, () => {
      onChunk(-piece.size);
      return fetchAnew();
    });
    checking.catch(() => {}); // awaited with the next piece, or below
  }
  await checking;
}

/** A cache may keep a damaged piece for ever: once, it is fetched past all of them. */
async function checkAndTake(
  piece: Piece,
  bytes: Bytes,
  sink: WeightSink,
  fetchAnew: () => Promise<void>,
): Promise<void> {
  let found = await sink.hash(bytes);
  if (found !== piece.sha256) {
    await fetchAnew();
    found = await sink.hash(bytes);
  }
  if (found !== piece.sha256) {
    throw new LoadError("corrupt", `${piece.path} has SHA-256 ${found}, weights.json says ${piece.sha256}`);
  }
  sink.take(bytes);
}

/** Streams a plain model.safetensors, which states no hash, into `sink`. */
export async function loadPlainFile(
  file: OpenFile,
  name: string,
  sink: Pick<WeightSink, "take" | "onBytes">,
  signal: AbortSignal,
): Promise<void> {
  let loaded = 0;
  await readChunks(file, name, signal, (chunk) => {
    sink.take(chunk);
    sink.onBytes((loaded += chunk.length));
  });
}
