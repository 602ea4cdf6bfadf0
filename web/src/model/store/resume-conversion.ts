// Resumes an interrupted conversion.
import { chunksOf, type ReadOfInputs, type OpenFile } from "../sources/model-source.js";
import type { Piece } from "../weights-index.js";
import { streamOf } from "../sources/byte-streams.js";
import type { ModelRecord } from "./records.js";
import { readRight } from "./stored-piece.js";
import type { Store } from "./store.js";

/**
 * The file `name` of an interrupted conversion: the stored pieces before the first missing or damaged one, and then the
 * bytes of `openRest`.
 */
export function resumeConversion(
  store: Store,
  { pieces, weightBytes }: ModelRecord,
  name: string,
  signal: AbortSignal,
  openRest: (stored: readonly Piece[]) => Promise<OpenFile>,
): OpenFile {
  let rest: OpenFile | undefined;
  const made: ReadOfInputs = {
    get readBytes() {
      return rest?.made?.readBytes ?? 0;
    },
    get totalBytes() {
      return rest?.made?.totalBytes;
    },
  };
  async function* chunks(): AsyncGenerator<Uint8Array, void> {
    const stored: Piece[] = [];
    for (const piece of pieces) {
      const bytes = await readRight(store, piece);
      if (!bytes) break;
      stored.push(piece);
      yield bytes;
    }
    rest = await openRest(stored);
    yield* chunksOf(rest, name, signal);
  }
  return { size: weightBytes, stream: streamOf(chunks()), made };
}
