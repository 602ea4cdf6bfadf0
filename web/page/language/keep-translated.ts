// Keeps text on the page in the language that the visitor chose.
import { currentLanguage } from "./translation.js";

const ends = new WeakMap<object, () => void>();

/** Calls `render` now and after each change of language, until another call with the same `key` replaces it. */
export function keepTranslated(key: object, render: () => void): void {
  ends.get(key)?.();
  ends.set(
    key,
    currentLanguage.subscribe(() => render()),
  );
}

/** Sets the text of `part` now and after each change of language. */
export function setTranslatedText(part: Element, sentence: () => string): void {
  keepTranslated(part, () => {
    const text = sentence();
    if (part.textContent !== text) part.textContent = text; // a live region announces each assignment
  });
}
