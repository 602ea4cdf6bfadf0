// What the page tells in words, to be told again when its reader chooses another language.
import { inUse } from "./translation.js";

const ends = new WeakMap<object, () => void>();

/** Calls `tell` now, and whenever another language is chosen, until it has told something else about the same. */
export function keepTold(about: object, tell: () => void): void {
  ends.get(about)?.();
  ends.set(
    about,
    inUse.subscribe(() => tell()),
  );
}

/** As `keepTold`, of the text of `part`. */
export function put(part: Element, sentence: () => string): void {
  keepTold(part, () => {
    const text = sentence();
    if (part.textContent !== text) part.textContent = text; // a live region says what is put there
  });
}
