// A word consists of letters, digits and apostrophes, or is a run of anything else.
const pattern = /^\s*(?:[\p{L}\p{N}\p{M}'’]+|[^\s\p{L}\p{N}]+)?/u;

/** The first word of `text`, with the space before it. */
export function firstWord(text: string): string {
  return pattern.exec(text)?.[0] || text;
}
