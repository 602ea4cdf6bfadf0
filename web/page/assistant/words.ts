// Selects the part of a continuation to suggest: its first few whole words.

/** A word is letters, digits and apostrophes, or a run of anything else; the space before it belongs to it. */
const word = /\s*(?:[\p{L}\p{N}\p{M}'’]+|[^\s\p{L}\p{N}]+)/uy;

/** Offsets at which the words of `text` end. */
function wordEnds(text: string): number[] {
  const ends: number[] = [];
  word.lastIndex = 0;
  while (word.test(text)) ends.push(word.lastIndex);
  return ends;
}

/** Length of the first word, including the space before it. */
export const firstWordLength = (text: string): number => wordEnds(text)[0] ?? text.length;

/**
 * Length of the part of `text` to suggest: its words up to the end of the line, without a last one that is cut off.
 */
export function suggestedLength(text: string, isCutOff: boolean): number {
  const begun = text.search(/\S/);
  if (begun === -1) return 0;
  const lineEnd = text.indexOf("\n", begun);
  if (lineEnd !== -1) return text.slice(0, lineEnd).trimEnd().length;
  const ends = wordEnds(text);
  const last = isCutOff && ends.length > 1 ? ends.at(-2) : ends.at(-1);
  return last ?? 0;
}
