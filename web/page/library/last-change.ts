// The changes just before the page is closed. The database may not store them in time, but the local storage does. They
// are stored as the difference from the last stored version.
import type { Change } from "../document/difference.js";
import { isOffset } from "../document/parse-kept.js";
import { readStored, writeStored } from "../state/storage.js";
import { prefix } from "./claims.js";

export interface LastChange {
  /** Version of the stored text that was changed; 0: the text that every page starts with. */
  version: number;
  change: Change;
  /** Offset in the changed text. */
  caret: number;
  /** In the form in which it is stored beside a text. */
  beside?: unknown;
}

/** The storage holds 5 million UTF-16 code units for all pages of a host. */
const mostUnits = 1_000_000;

export function parseLastChange(json: string): LastChange | undefined {
  const { version, change, caret, beside } = Object(JSON.parse(json)) as Record<string, unknown>;
  const { from, to, insert } = Object(change) as Record<string, unknown>;
  if (!isOffset(version) || !isOffset(caret) || !isOffset(from) || !isOffset(to)) return undefined;
  if (from > to || typeof insert !== "string") return undefined;
  return { version, change: { from, to, insert }, caret, beside };
}

export function readLastChange(id: string): LastChange | undefined {
  try {
    return parseLastChange(readStored("localStorage", prefix + id) ?? "null");
  } catch {
    return undefined; // another page has written there
  }
}

/** undefined removes the entry: everything is stored. */
export function writeLastChange(id: string, last: LastChange | undefined): void {
  const isKept = last !== undefined && last.change.insert.length <= mostUnits;
  writeStored("localStorage", prefix + id, isKept ? JSON.stringify(last) : undefined);
}

const removed = "removed";

/** Notes, in place of a last change, that the text is to be deleted. A page that closes may not live to delete it. */
export function noteRemoval(id: string): void {
  writeLastChange(id, undefined); // would bring the text back if there is no room for the note
  writeStored("localStorage", prefix + id, removed);
}

export const isRemoved = (id: string): boolean => readStored("localStorage", prefix + id) === removed;

/** The ids of all texts that have a last change or a note. */
export function changedIds(): string[] {
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
