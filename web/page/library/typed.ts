// What was typed before the text could be stored. The storage of the tab keeps it for a reload, the storage of the host for
// the next page, in case the tab was closed.
import { path, readSession, writeSession } from "./session.js";

const key = `gpt2-typed ${path}`;

function readLocal(): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

function writeLocal(text: string | undefined): void {
  try {
    if (text === undefined) localStorage.removeItem(key);
    else localStorage.setItem(key, text);
  } catch {
    // There is no storage, or it is full.
  }
}

/** Keeps `text`; undefined if nothing is left that is not stored. What another tab left stays. */
export function keepTyped(text: string | undefined): void {
  const isOwn = readLocal() === readSession(key);
  writeSession(key, text);
  if (text !== undefined || isOwn) writeLocal(text);
}

/** What this tab kept, or else what a closed tab did, which is this tab's from now on. */
export function takeTyped(): string | undefined {
  const own = readSession(key);
  if (own !== undefined) return own;
  const left = readLocal();
  writeLocal(undefined);
  writeSession(key, left);
  return left;
}
