// Keeps what was typed before the text could be stored. The tab's storage has it for a reload, the host's storage for the next
// page, in case the tab is closed.
import { path, readSession, writeSession } from "./session.js";

const key = `gpt2-typed ${path}`;

function readLocal(): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

function writeLocal(text?: string): void {
  try {
    if (text === undefined) localStorage.removeItem(key);
    else localStorage.setItem(key, text);
  } catch {
    // There is no storage, or it is full.
  }
}

/**
 * Keeps `text` for this tab and, if the page is closed, for the next one; undefined, once all of it is stored, removes it. Does
 * not remove what another tab has kept.
 */
export function keepTyped(text?: string, isClosed?: boolean): void {
  const local = readLocal();
  const isOwn = local === readSession(key);
  writeSession(key, text);
  if (isClosed && text) writeLocal(text);
  else if (isOwn && local !== text) writeLocal(); // a page that was closed is hidden afterwards, with the same text
}

/** Returns what this tab kept. If there is none, takes over what a closed tab kept. */
export function takeTyped(): string | undefined {
  const typed = readSession(key) ?? readLocal();
  writeSession(key, typed);
  if (typed === readLocal()) writeLocal();
  return typed;
}
