// A text and its branches, as files have them: the one that is shown, and where each of the others leaves it.
import { childrenOf, type Branch, type Tree } from "../document/tree.js";
import type { KeptText } from "../document/kept-text.js";

/** A branch beside the text that is shown. */
export interface Alternative {
  name: string;
  kept: KeptText;
  /** Characters that it begins with as that text does. */
  shared: number;
  /** How deep it lies in the tree: 0 for the first branch. */
  depth: number;
}

/** How many characters both begin with alike: whole ones, and no more than whole words where they differ within one. */
export function sharedLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && length < other.length && one[length] === other[length]) length += 1;
  if (length === one.length && length === other.length) return length;
  const isLetter = (place: number, text: string) => /[\p{L}\p{N}\p{M}\p{Cs}]/u.test(text[place] ?? "");
  const isInside = (text: string) => isLetter(length - 1, text) && isLetter(length, text);
  while (length > 0 && (isInside(one) || isInside(other))) length -= 1;
  return length;
}

/** The other branches, each after the one that it comes from. */
export function alternativesOf({ branches, current }: Tree): Alternative[] {
  const shown = branches.find(({ id }) => id === current)?.kept.text ?? "";
  const found: Alternative[] = [];
  const visit = (branch: Branch, depth: number) => {
    const { id, name, kept } = branch;
    if (id !== current) found.push({ name, kept, shared: sharedLength(shown, kept.text), depth });
    for (const child of childrenOf({ branches, current }, id)) visit(child, depth + 1);
  };
  for (const root of childrenOf({ branches, current }, null)) visit(root, 0);
  return found;
}

/** The end of the first `length` characters of `text`, a few words of one line, for who looks where a branch leaves it. */
export function wordsBefore(text: string, length: number): string {
  const line = text.slice(0, length).trimEnd().replace(/^.*\n/s, "");
  const words = Array.from(line).slice(-60).join("");
  return words.length < line.length ? `…${words.replace(/^\S*\s/, "")}` : words;
}

/** A name for a file, out of how `text` begins. */
export function fileName(text: string, ending: string): string {
  const words = text.normalize("NFC").match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const name = words.slice(0, 6).join("-").toLowerCase();
  return `${Array.from(name).slice(0, 48).join("") || "text"}.${ending}`;
}
