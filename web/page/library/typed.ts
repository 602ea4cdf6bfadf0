// What was typed before the text could be stored. A page that closes leaves it to the next one, and a page that is hidden to
// itself: a phone may end it without a further event.
import { path, readStored, writeStored } from "../state/storage.js";

const key = `gpt2-typed ${path}`;

/** What this page has read or left for the next one. */
let own: string | undefined;

export function keepTyped(text: string, isClosed: boolean): void {
  if (isClosed) own = text;
  writeStored("sessionStorage", key, isClosed ? undefined : text);
  if (isClosed) writeStored("localStorage", key, text);
}

export function readTyped(): string | undefined {
  const hidden = readStored("sessionStorage", key);
  own = hidden === undefined ? readStored("localStorage", key) : undefined;
  return hidden ?? own;
}

/** This page has the words, and stores them. What another page has left stays. */
export function dropTyped(): void {
  writeStored("sessionStorage", key);
  if (readStored("localStorage", key) === own) writeStored("localStorage", key);
}
