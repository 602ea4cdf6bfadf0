// Parses a stored text, which another release or another page of the same host may have written.
import type { KeptText, Part } from "./kept-text.js";

export const isOffset = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0;
const isPart = (value: unknown): value is Part =>
  Array.isArray(value) &&
  value.slice(0, 2).filter(isOffset).length === 2 &&
  (value.length === 2 || (value.length === 3 && value[2] === "en"));

/** Drops overlapping parts: a forged link or file could hold thousands. */
function inOrder(parts: readonly Part[]): Part[] {
  const found: Part[] = [];
  for (const part of parts) if (part[0] >= (found.at(-1)?.[1] ?? 0)) found.push(part);
  return found;
}

/** Parses ranges in ascending order; returns none if `value` is invalid. */
export const parseParts = (value: unknown): Part[] =>
  Array.isArray(value) ? inOrder(value.filter(isPart).filter(([from, to]) => from < to)) : [];

/** Parses a stored text; undefined if it is invalid. */
export function parseKept(value: unknown): KeptText | undefined {
  const { text, caret, written, run, history, tree, alternatives, draft } = (value ?? {}) as Record<
    string,
    unknown
  >;
  if (typeof text !== "string" || !isOffset(caret) || !Array.isArray(written)) return undefined;
  const [last] = parseParts([run]);
  const more = {
    ...(last && { run: [last[0], last[1]] as const }),
    ...(history !== undefined && { history }),
    ...(tree !== undefined && { tree }),
    ...(alternatives !== undefined && { alternatives }),
    ...(typeof draft === "string" && { draft }),
  };
  return { text, caret, written: parseParts(written), ...more };
}
