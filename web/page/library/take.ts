// Chooses the stored text for a tab: its own, a copy if the tab was duplicated, or the newest one that no tab has.
import type { KeptText } from "../document/kept-text.js";
import { claim } from "./claims.js";
import { afterChange, changedIds, isRemoved, readLastChange, writeLastChange } from "./last-change.js";
import type { StoredText, TextStore } from "./store.js";

export interface FoundText extends StoredText {
  /** With the changes since it was stored as its draft. */
  kept: KeptText;
  /** The text as it was stored. */
  base: string;
}

export interface TakenText extends FoundText {
  /** Gives up the text; undefined if it is a copy of another tab's. */
  release: (() => void) | undefined;
}

/** A closing page releases its text while the next one starts. */
export const patienceMs = 1000;

export const textIn = ({ draft, text }: KeptText): string => draft ?? text;

/** A text with the changes after it was stored; undefined if it is deleted. Every page starts with `firstText`. */
export async function readText(
  store: TextStore,
  id: string,
  firstText: string,
): Promise<FoundText | "damaged" | undefined> {
  if (isRemoved(id)) {
    // A closed page has not finished the deletion. Without success, that is tried again at the next reading.
    await store.remove(id).then(
      () => writeLastChange(id, undefined),
      () => undefined,
    );
    return undefined;
  }
  const last = readLastChange(id);
  const kept = { text: firstText, caret: 0, written: [] };
  const first = { id, version: 0, changed: 0, name: undefined, kept, beside: undefined };
  const stored = (await store.read(id)) ?? (last?.version === 0 ? first : undefined);
  if (typeof stored !== "object") return stored;
  const base = textIn(stored.kept);
  if (last?.version !== stored.version) return { ...stored, base };
  const draft = afterChange(base, last.change);
  return { ...stored, base, kept: { ...stored.kept, draft, caret: last.caret }, beside: last.beside };
}

/** Takes this tab's text `own`, if it has one, or another. Calls `foundDamage` for each that cannot be read. */
export async function takeText(
  store: TextStore,
  own: string | undefined,
  firstText: string,
  foundDamage: () => void,
): Promise<TakenText | undefined> {
  const ids = new Set([...(await store.ids()), ...changedIds()]);
  for (const id of own === undefined ? ids : new Set([own, ...ids])) {
    const release = await claim(id, id === own ? patienceMs : 0);
    const isCopy = !release && id === own;
    const found = release || isCopy ? await readText(store, id, firstText) : undefined;
    if (typeof found === "object") return { ...found, release };
    if (found === "damaged") foundDamage();
    release?.();
    if (isCopy) return undefined;
  }
  return undefined;
}
