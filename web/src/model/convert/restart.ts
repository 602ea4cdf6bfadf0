// Where an interrupted conversion resumes.
import type { Converter } from "./converter.js";
import { headOf, isWholeHead, tensorsOf } from "./tensor-head.js";

/** A place in a model's files. */
export interface RestartPlace {
  /** The index of the file, from 0. */
  file: number;
  /** Byte offset in the file. */
  at: number;
}

/** The byte offset of the end of a file's tensors. */
export const endOfTensors = (head: Uint8Array): number =>
  tensorsOf(head).reduce((most, { end }) => Math.max(most, end), head.length);

/** Names on the Hub may start with this prefix; converted names do not. */
const prefix = "transformer.";

/**
 * The last tensor in the files of `heads` whose converted form begins within the first `from` bytes of the output, or at
 * their end. The first tensor if there is none. `output` starts with the header of the output, which lists the tensors
 * in the order of the input.
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

/** Bytes to feed at a time, between which other requests run. */
const portionBytes = 4 * 1024 * 1024;

/** Feeds `count` zeros. Returns how many bytes the converter output. */
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
