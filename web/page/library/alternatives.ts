// A text and its branches for files: the current branch, and where each of the others differs from it.
import { inOrder, type Tree } from "../document/tree.js";
import type { KeptText } from "../document/kept-text.js";

/** A branch other than the current one. */
export interface Alternative {
  name: string;
  kept: KeptText;
  /** Number of equal characters at the start. */
  shared: number;
  /** Depth in the tree: 0 for the first branch. */
  depth: number;
}

/** The length of the common start: whole characters and, if the texts differ within a word, whole words. */
export function sharedLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && length < other.length && one[length] === other[length]) length += 1;
  if (length === one.length && length === other.length) return length;
  const isLetter = (place: number, text: string) => /[\p{L}\p{N}\p{M}\p{Cs}]/u.test(text[place] ?? "");
  const isInside = (text: string) => isLetter(length - 1, text) && isLetter(length, text);
  while (length > 0 && (isInside(one) || isInside(other))) length -= 1;
  return length;
}

/** The other branches, each after its parent. */
export function alternativesOf(tree: Tree): Alternative[] {
  const shown = tree.branches.find(({ id }) => id === tree.current)?.kept.text ?? "";
  return inOrder(tree)
    .filter(({ branch }) => branch.id !== tree.current)
    .map(({ branch: { name, kept }, depth }) => ({
      name,
      kept,
      shared: sharedLength(shown, kept.text),
      depth,
    }));
}

/** The last few words before character `length` of `text`, on one line, to find the place where a branch starts. */
export function wordsBefore(text: string, length: number): string {
  const line = text.slice(0, length).trimEnd().replace(/^.*\n/s, "");
  const words = Array.from(line).slice(-60).join("");
  return words.length < line.length ? `…${words.replace(/^\S*\s/, "")}` : words;
}

/** A file name from the beginning of `text`. */
export function fileName(text: string, ending: string): string {
  const words = text.normalize("NFC").match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const name = words.slice(0, 6).join("-").toLowerCase();
  return `${Array.from(name).slice(0, 48).join("") || "text"}.${ending}`;
}
