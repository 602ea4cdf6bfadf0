// What a storage has of a text, as far as it is one: another release may have kept it, and whoever shares the host.
import type { KeptText } from "./editor.js";

const isOffset = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const isPair = (value: unknown): value is [number, number] =>
  Array.isArray(value) && value.length === 2 && value.every(isOffset);

/** The pairs of offsets that `value` has; none where it is something else. */
export const parsePairs = (value: unknown): [number, number][] =>
  Array.isArray(value) ? value.filter(isPair).filter(([from, to]) => from < to) : [];

/** The text that `value` is; undefined where it is none. */
export function parseKept(value: unknown): KeptText | undefined {
  const { text, caret, written, history, tree } = (value ?? {}) as Record<string, unknown>;
  if (typeof text !== "string" || !isOffset(caret) || !Array.isArray(written)) return undefined;
  const more = { ...(history !== undefined && { history }), ...(tree !== undefined && { tree }) };
  return { text, caret, written: parsePairs(written), ...more };
}
