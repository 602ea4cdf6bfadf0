// Chooses the stored text for a tab: its own, a copy if the tab was duplicated, or the newest one that no tab has.
import type { KeptText } from "../document/kept-text.js";
import { parseKept } from "../document/parse-kept.js";
import { phrase } from "../language/texts.js";
import { claim } from "./claims.js";
import {
  afterChange,
  isRemoved,
  lastChangesOf,
  readLastChange,
  writeLastChange,
  type LastChange,
} from "./last-change.js";
import type { StoredVersion, TextStore } from "./store.js";

export interface FoundText {
  /** With the changes since it was stored as its draft. */
  kept: KeptText;
  /** What was stored beside the text. */
  beside: unknown;
  stored: StoredVersion;
}

export interface TakenText extends FoundText {
  /** undefined if it is a copy of another tab's. */
  id: string | undefined;
  release: () => void;
}

export interface TextNames {
  /** Prefix of a text's id in the names of its claim and its last change. */
  prefix: string;
  /** The text that every page starts with. */
  firstText: string;
}

/** A closing page releases its text while the next one starts. */
export const patienceMs = 1000;

/** Deletes a text whose deletion a closed page has not finished. Without success, that is tried again at the next reading. */
const finishRemoval = (store: TextStore, id: string, name: string): Promise<void> =>
  store.remove(id).then(
    () => writeLastChange(name, undefined),
    () => undefined,
  );

/** The newest readable version of a text, with the changes after it; undefined if it is deleted, or none is readable. */
export async function readText(
  store: TextStore,
  id: string,
  { prefix, firstText }: TextNames,
): Promise<FoundText | undefined> {
  const name = prefix + id;
  if (isRemoved(name)) {
    await finishRemoval(store, id, name);
    return undefined;
  }
  const last = readLastChange(name);
  const versions = await store.versions(id);
  const withLast = (kept: KeptText, { change, caret }: LastChange) => ({
    ...kept,
    draft: afterChange(kept.draft ?? kept.text, change),
    caret,
  });
  for (const stored of versions) {
    const kept = parseKept(stored?.content);
    if (!stored || !kept) continue;
    if (last?.version !== stored.version) return { stored, kept, beside: stored.content };
    return { stored, kept: withLast(kept, last), beside: last.beside };
  }
  if (last?.version !== 0 || versions.length > 0) return undefined;
  const kept = withLast({ text: firstText, caret: 0, written: [] }, last);
  return { kept, beside: last.beside, stored: { version: 0, changed: 0, content: undefined } };
}

interface TextSource {
  find(id: string): Promise<FoundText | undefined>;
  openStore(): Promise<TextStore>;
}

/** The text `id`. Rejects with the reason if it cannot be read, or if another tab has deleted it. */
export async function needText(source: TextSource, id: string): Promise<FoundText> {
  const found = await source.find(id);
  if (found) return found;
  const store = await source.openStore();
  const isStored = (await store.ids()).includes(id);
  throw new Error(phrase(isStored ? "unreadable" : "deleted"));
}

/** Takes this tab's text `own`, if it has one, or another. */
export async function takeText(
  store: TextStore,
  own: string | undefined,
  names: TextNames,
): Promise<TakenText | undefined> {
  const ids = new Set([...(await store.ids()), ...lastChangesOf(names.prefix)]);
  for (const id of own === undefined ? ids : new Set([own, ...ids])) {
    const release = await claim(names.prefix + id, id === own ? patienceMs : 0);
    const isCopy = !release && id === own;
    const found = release || isCopy ? await readText(store, id, names) : undefined;
    if (found) return { ...found, id: isCopy ? undefined : id, release: release ?? (() => undefined) };
    release?.();
    if (isCopy) return undefined;
  }
  return undefined;
}
