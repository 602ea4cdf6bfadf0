// Tabs of the page that keep their texts in one browser: the real tabs and store, with made-up editors and locks.
import "fake-indexeddb/auto";
import { IDBFactory } from "fake-indexeddb";
import { openDB } from "idb";
import { vi } from "vitest";
import type { KeptText } from "../../../web/page/document/kept-text.js";
import type { Surface } from "../../../web/page/document/surface.js";
import { Tab } from "../../../web/page/library/tab.js";
import { textIn } from "../../../web/page/library/take.js";

/** The name of a text's lock. */
export const lockOf = (id: string): string => `gpt2-text / ${id}`;
export const firstText = "Once upon a time";
export const content = (text: string): KeptText => ({ text, caret: text.length, written: [] });

/** The names of the locks that tabs hold. */
export const locks = new Set<string>();

/** An empty browser without tabs. */
export function beginBrowser(): void {
  vi.stubGlobal("indexedDB", new IDBFactory());
  localStorage.clear();
  sessionStorage.clear();
  locks.clear();
  type Hold = (lock: object | null) => Promise<void>;
  const request = async (name: string, options: LockOptions, hold: Hold) => {
    if (locks.has(name) && !options.ifAvailable) throw new DOMException("", "TimeoutError");
    if (locks.has(name)) return hold(null);
    locks.add(name);
    await hold({});
    locks.delete(name);
  };
  const query = () => Promise.resolve({ held: [...locks].map((name) => ({ name })) });
  vi.stubGlobal("navigator", { locks: { request, query } });
}

/** Rows of the database as any program may write them, the first of the text "a". */
export async function putRows(...rows: object[]): Promise<void> {
  const database = await openDB("gpt2-texts");
  for (const row of rows) await database.put("texts", { path: "/", id: "a", slot: 0, ...row });
  database.close();
}

/** What is in the database of a text. */
export async function rowsOf(id: string): Promise<Record<string, unknown>[]> {
  const database = await openDB("gpt2-texts");
  const rows = (await database.getAll("texts")) as Record<string, unknown>[];
  database.close();
  return rows.filter((row) => row.id === id);
}

export const soon = (): Promise<void> => new Promise((later) => setTimeout(later, 20));

/** Opens a tab, which had the text `own` before. */
export async function openTab(own = "") {
  sessionStorage.clear();
  if (own !== "") sessionStorage.setItem("gpt2-text-id /", own);
  let kept = content(firstText);
  const surface = {
    typedInField: undefined,
    get kept() {
      return kept;
    },
    get keptWithHistory() {
      return kept;
    },
    need: async () => {},
    restore: async (other: KeptText) => void (kept = content(textIn(other))),
  } as unknown as Surface;
  const told = { showFailure: vi.fn(), showStored: vi.fn(), showDamage: vi.fn() };
  const field = Object.assign(document.createElement("textarea"), { defaultValue: firstText });
  const tab = new Tab({ surface, field, beside: { read: () => ({}), show: () => undefined }, ...told });
  const events = new EventTarget();
  const listen = (type: string, listener: unknown) =>
    events.addEventListener(type, listener as EventListener);
  vi.stubGlobal("addEventListener", listen);
  const onDocument = vi.spyOn(document, "addEventListener").mockImplementation(listen);
  const keeping = tab.keep(); // listens at once
  onDocument.mockRestore();
  await keeping;
  await soon();
  return {
    tab,
    ...told,
    shown: () => kept.text,
    type: (text: string) => {
      kept = content(text);
      tab.noteChange();
    },
    fire: (type: string, more: object = {}) =>
      void events.dispatchEvent(Object.assign(new Event(type), more)),
  };
}
