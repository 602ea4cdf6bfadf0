// What the page tells in words, to be told again when its reader chooses another language.

const all = new Map<object, () => void>();

/** Calls `tell` now, and whenever another language is chosen, until it has told something else about the same. */
export function keepTold(about: object, tell: () => void): void {
  all.set(about, tell);
  tell();
}

/** As `keepTold`, of the text of `part`. */
export function put(part: Element, sentence: () => string): void {
  keepTold(part, () => {
    const text = sentence();
    if (part.textContent !== text) part.textContent = text; // a live region says what is put there
  });
}

/** Tells all of it in the language that the page has now. */
export function tellAgain(): void {
  for (const tell of all.values()) tell();
}
