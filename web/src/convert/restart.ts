// Where an interrupted conversion resumes.
import type { Converter } from "./converter.js";
import { headOf, isWholeHead, tensorsOf } from "./tensor-head.js";

/** A place in the files that a model is in. */
export interface RestartPlace {
  /** Which of them, from 0. */
  file: number;
  /** In bytes, from its beginning. */
  at: number;
}

/** Where the tensors of a file end, in bytes from its beginning. */
export const endOfTensors = (head: Uint8Array): number =>
  tensorsOf(head).reduce((most, { end }) => Math.max(most, end), head.length);

/** The hub's names may begin with it, the converted ones do not. */
const prefix = "transformer.";

/**
 * The last tensor of the files with `heads` whose converted form begins within the first `from` bytes of the output, or
 * at their end. The first tensor if there is none. `output` begins with the head of the output. Tensors lie there in the
 * order in which they come in.
 */
export function restartPlace(heads: readonly Uint8Array[], output: Uint8Array, from: number): RestartPlace {
  const starts = new Map(
    isWholeHead(output) ? tensorsOf(headOf(output)).map(({ name, start }) => [name, start]) : [],
  );
  let place: RestartPlace = { file: 0, at: heads[0]?.length ?? 0 };
  for (const [file, head] of heads.entries()) {
    for (const { name, start } of tensorsOf(head)) {
      const made = starts.get(name.startsWith(prefix) ? name.slice(prefix.length) : name);
      if (made !== undefined && made <= from) place = { file, at: start };
    }
  }
  return place;
}

/** What is fed at once, in bytes, before others have their turn. */
const portionBytes = 4 * 1024 * 1024;

/** Feeds `count` zeros. Returns how many bytes the converter gave. */
export async function feedZeros(converter: Converter, count: number, signal: AbortSignal): Promise<number> {
  const zeros = new Uint8Array(Math.min(count, portionBytes));
  let given = 0;
  for (let left = count; left > 0; left -= portionBytes) {
    for (const bytes of converter.feed(zeros.subarray(0, left))) given += bytes.length;
    await new Promise((resolve) => setTimeout(resolve));
    signal.throwIfAborted();
  }
  return given;
}
