// What was typed before the text could be stored. A page that closes leaves it to the next one. A page that is hidden leaves it
// to its own tab, because a phone may end it without a further event.
import { path, readStored, writeStored } from "../state/storage.js";

const key = `gpt2-typed ${path}`;

export function keepTyped(text: string, isClosed: boolean): void {
  writeStored("sessionStorage", key, isClosed ? undefined : text);
  if (isClosed) writeStored("localStorage", key, text);
}

export const readTyped = (): string | undefined =>
  readStored("sessionStorage", key) ?? readStored("localStorage", key);

/** This page has the words `text` and stores them. What another page has left stays. */
export function dropTyped(text: string | undefined): void {
  writeStored("sessionStorage", key);
  if (readStored("localStorage", key) === text) writeStored("localStorage", key);
}
