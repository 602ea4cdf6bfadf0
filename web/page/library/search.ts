// What the library shows of a text and finds in it: its first words, its length in words, and the passage that matches.

/** Limits of the words that stand for a missing name. */
const mostWords = 7;
const mostLetters = 50;

/** The words that a text begins with, for a text without a name; "": it has none. */
export function firstWords(text: string): string {
  const beginning = text.trimStart().slice(0, 10 * mostLetters);
  const all = beginning.split(/\s+/u).filter((word) => word !== "");
  const words = Array.from(all.slice(0, mostWords).join(" ")).slice(0, mostLetters).join("");
  return words.length < all.join(" ").length ? `${words}…` : words;
}

export const countWords = (text: string): number =>
  text.match(/[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}'’-]*[\p{L}\p{M}\p{N}])?/gu)?.length ?? 0;

/** Equal for texts that differ only in case, in accents or in the kinds of their spaces. */
const fold = (text: string): string =>
  text
    .normalize("NFD")
    .replace(/[\u0300-\u036f]/g, "")
    .replace(/\s/gu, " ")
    .toUpperCase(); // not to lower case: that keeps ß, and has two forms of σ

/** The part of a text around a match. */
export interface Passage {
  before: string;
  match: string;
  after: string;
}

/** Characters shown before and after a match. */
const lettersAround = 40;

/** The offset in `text` of the character that begins at `wanted` in the folded text, or contains it. */
function offsetOf(text: string, wanted: number): number {
  let folded = 0;
  let offset = 0;
  for (const character of text) {
    folded += fold(character).length;
    if (folded > wanted) return offset;
    offset += character.length;
  }
  return offset;
}

/** Finds `query` in `text`, ignoring case and accents; undefined if it is not there. */
export function find(text: string, query: string): Passage | undefined {
  const wanted = fold(query.trim());
  const at = wanted === "" ? -1 : fold(text).indexOf(wanted);
  if (at === -1) return undefined;
  const from = offsetOf(text, at);
  // With the accents of its last letter, which fold to nothing.
  const to = from + offsetOf(text.slice(from), wanted.length);
  const start = text.slice(0, from).slice(-lettersAround);
  const end = text.slice(to, to + lettersAround);
  return {
    before: from > lettersAround ? `…${start.replace(/^\S*\s/u, "")}` : start,
    match: text.slice(from, to),
    after: to + lettersAround < text.length ? `${end.replace(/\s\S*$/u, "")}…` : end,
  };
}
