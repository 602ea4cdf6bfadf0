// What the library shows of a text: its first words, and its length in words.

/** Limits of the words that stand for a missing name. */
const mostWords = 7;
const mostCharacters = 50;

/** The words that a text begins with, for a text without a name; "": it has none. */
export function firstWords(text: string): string {
  const beginning = text.trimStart().slice(0, 10 * mostCharacters);
  const all = beginning.split(/\s+/u).filter((word) => word !== "");
  const words = Array.from(all.slice(0, mostWords).join(" ")).slice(0, mostCharacters).join("");
  return words.length < all.join(" ").length ? `${words}…` : words;
}

export function countWords(text: string): number {
  const word = /[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}'’-]*[\p{L}\p{M}\p{N}])?/gu;
  let count = 0;
  while (word.test(text)) count += 1; // a list of all words of a long text would take much memory
  return count;
}
