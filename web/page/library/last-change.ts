// What was changed just before the page went away: the database may not hear of it in time, the local storage does. It says
// what makes the text of it out of the version that was stored last.
import type { Change } from "../document/difference.js";
import { isOffset } from "../document/parse-kept.js";

export interface LastChange {
  /** Of the stored text that was changed; 0: the text that every page begins with. */
  version: number;
  change: Change;
  /** In the changed text. */
  caret: number;
  /** As they are stored beside a text. */
  beside?: unknown;
}

/** Storages hold 5 million characters of all pages of a host. */
const mostLetters = 1_000_000;

export function parseLastChange(json: string): LastChange | undefined {
  const { version, change, caret, beside } = Object(JSON.parse(json)) as Record<string, unknown>;
  const { from, to, insert } = Object(change) as Record<string, unknown>;
  if (!isOffset(version) || !isOffset(caret) || !isOffset(from) || !isOffset(to)) return undefined;
  if (from > to || typeof insert !== "string") return undefined;
  return { version, change: { from, to, insert }, caret, beside };
}

export function readLastChange(name: string): LastChange | undefined {
  try {
    const json = localStorage.getItem(name);
    return json === null ? undefined : parseLastChange(json);
  } catch {
    return undefined; // there is no storage, or another page has written there
  }
}

/** undefined: all of it is stored. */
export function writeLastChange(name: string, last: LastChange | undefined): void {
  try {
    if (last && last.change.insert.length <= mostLetters) localStorage.setItem(name, JSON.stringify(last));
    else localStorage.removeItem(name);
  } catch {
    // There is no storage, or no room.
  }
}

/** What the names of all last changes that begin with `prefix` go on with. */
export function lastChangesOf(prefix: string): string[] {
  try {
    const names = Object.keys(localStorage).filter((name) => name.startsWith(prefix));
    return names.map((name) => name.slice(prefix.length));
  } catch {
    return [];
  }
}

/** `text` after `change`. */
export const afterChange = (text: string, { from, to, insert }: Change): string =>
  text.slice(0, from) + insert + text.slice(to);
