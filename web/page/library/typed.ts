// Keeps what was typed before the text could be stored. The tab's storage has it for a reload, the host's storage for the next
// page, in case the tab is closed.
import { path, readStored, writeStored } from "../state/storage.js";

const key = `gpt2-typed ${path}`;

/**
 * Keeps `text` for this tab and, if the page is closed, for the next one; undefined, once all of it is stored, removes it. Does
 * not remove what another tab has kept.
 */
export function keepTyped(text?: string, isClosed?: boolean): void {
  const local = readStored("localStorage", key);
  const isOwn = local === readStored("sessionStorage", key);
  writeStored("sessionStorage", key, text);
  if (isClosed && text) writeStored("localStorage", key, text);
  // A page that was closed is hidden afterwards, with the same text.
  else if (isOwn && local !== text) writeStored("localStorage", key);
}

/** Returns what this tab kept. If there is none, takes over what a closed tab kept. */
export function takeTyped(): string | undefined {
  const typed = readStored("sessionStorage", key) ?? readStored("localStorage", key);
  writeStored("sessionStorage", key, typed);
  if (typed === readStored("localStorage", key)) writeStored("localStorage", key);
  return typed;
}
