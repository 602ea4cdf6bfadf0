// The texts of this page as a library: lists them, and changes one or all of them.
import type { KeptText } from "../document/kept-text.js";
import { parseFields } from "../document/parse-fields.js";
import { parseTree } from "../document/tree.js";
import { claimedOf } from "./claims.js";
import { changedIds, noteRemoval, writeLastChange } from "./last-change.js";
import { parseOptions } from "./parse-options.js";
import { parseName, type TextToStore } from "./store.js";
import { newId, tellName, type Tab } from "./tab.js";
import { textIn, type FoundText } from "./take.js";
import { settled, toFile, type FiledText } from "./text-file.js";

export interface ListedText {
  id: string;
  /** undefined if it was never named. */
  name: string | undefined;
  text: string;
  /** In milliseconds since 1970; 0 if unknown. */
  changed: number;
  /** Which tab shows it. */
  where: "here" | "elsewhere" | "nowhere";
}

/** A text that was removed from the library. */
export interface Removal {
  restore: () => Promise<void>;
  /** Deletes it permanently. The request is complete before this returns. */
  finish: () => Promise<void>;
}

/** The stored form, with options, seed and fields. */
function contentOf(kept: KeptText, beside: unknown) {
  const { options, seed, fields } = Object(beside) as Record<string, unknown>;
  const set = parseFields(fields);
  return {
    ...kept,
    ...(options !== undefined && { options: parseOptions(options) }),
    ...(typeof seed === "number" && { seed }),
    ...(set && { fields: set }),
  };
}

/** Equal for texts with the same letters by the same authors in all branches, and the same fields. */
function keyOf({ text, written, tree }: KeptText, beside: unknown): string {
  const { branches, current } = parseTree(tree) ?? { branches: [], current: 0 };
  const others = branches.filter(({ id }) => id !== current);
  const { fields } = Object(beside) as Record<string, unknown>;
  return JSON.stringify([text, written, others.map(({ kept }) => kept.text), parseFields(fields)]);
}

export class Texts {
  private readonly tab: Tab;
  /** Removed texts that may be restored. */
  private readonly removed = new Set<string>();

  constructor(tab: Tab) {
    this.tab = tab;
  }

  /** The current text of this tab; undefined until it is known. */
  get current(): Pick<ListedText, "id" | "text"> | undefined {
    const { id, text } = this.tab;
    return id === undefined ? undefined : { id, text };
  }

  private async ids(): Promise<string[]> {
    const { id } = this.tab;
    const store = await this.tab.openStore();
    const ids = new Set([...(id === undefined ? [] : [id]), ...(await store.ids()), ...changedIds()]);
    return [...ids].filter((each) => !this.removed.has(each));
  }

  /** All texts that can be read. */
  private async findAll(): Promise<FoundText[]> {
    const all: FoundText[] = [];
    for (const id of await this.ids()) {
      const found = await this.tab.find(id);
      if (typeof found === "object") all.push(found);
    }
    return all;
  }

  /** Lists the texts, the last changed one first. Rejects if the store cannot be used. */
  async list(): Promise<ListedText[]> {
    const all = await this.findAll();
    const claimed = await claimedOf(all.map(({ id }) => id));
    const whereOf = (id: string) => {
      if (id === this.tab.id) return "here";
      return claimed.includes(id) && !this.tab.held(id) ? "elsewhere" : "nowhere";
    };
    return all
      .map(
        ({ id, name, kept, changed }) =>
          ({ id, name, text: textIn(kept), changed, where: whereOf(id) }) as const,
      )
      .sort((one, other) => (other.changed || Infinity) - (one.changed || Infinity));
  }

  /** Names a text; "" removes the name. */
  async rename(id: string, name: string): Promise<void> {
    const { tab } = this;
    const store = await tab.openStore();
    const parsed = parseName(name);
    if (id === tab.id) {
      tab.setName(parsed);
      return tab.storeWhole();
    }
    const waiting = tab.held(id)?.waiting;
    if (waiting) waiting.name = parsed;
    await store.rename(id, parsed ?? "");
    tellName(id, parsed ?? "");
  }

  /** Adds a copy named `name`. */
  async duplicate(id: string, name: string): Promise<void> {
    const store = await this.tab.openStore();
    const found = await this.tab.need(id);
    const content = contentOf(found.kept, found.beside);
    await store.put([
      { id: newId(), version: 1, changed: store.timeOfChange(), name: parseName(name), content },
    ]);
  }

  /** Removes a text from the list. If this tab shows it, the tab gets a new text. undefined: another tab has it. */
  async remove(id: string): Promise<Removal | undefined> {
    const { tab, removed } = this;
    const store = await tab.openStore();
    const wasHere = id === tab.id;
    if (wasHere) {
      await tab.storeWhole();
      await tab.open();
    }
    const release = await tab.claim(id);
    if (!release) return undefined;
    removed.add(id);
    const end = () => {
      removed.delete(id);
      tab.unclaim(id, release);
    };
    return {
      restore: async () => {
        end();
        if (wasHere) await tab.open(id);
      },
      finish: async () => {
        tab.forget(id);
        try {
          noteRemoval(id); // a browser may drop the request of a page that closes
          await store.remove(id);
        } finally {
          writeLastChange(id, undefined);
          end();
        }
      },
    };
  }

  /** A file of all texts, without their undo history. */
  async exportAll(): Promise<string> {
    const all = await this.findAll();
    return toFile(
      all
        .map(({ name, kept, beside, changed }) => ({
          name,
          changed: changed || Date.now(),
          content: contentOf(settled(kept), beside),
        }))
        .filter(
          ({ name, content: { text, tree, fields } }) => text !== "" || name !== undefined || tree || fields,
        ),
    );
  }

  /**
   * Adds `filed` texts, except those that exist already: all of them, or none on failure. Copies among them are added if
   * their names differ. Returns how many were added and how many were known, and the ids of all.
   */
  async importAll(filed: readonly FiledText[]): Promise<{ added: number; known: number; ids: string[] }> {
    const store = await this.tab.openStore();
    const known = new Map(
      (await this.findAll()).map(({ id, kept, beside }) => [keyOf(settled(kept), beside), id]),
    );
    const named = new Map<string, TextToStore>();
    const ids = filed.map(({ name, changed, content }) => {
      const key = keyOf(content, content);
      const id = known.get(key) ?? named.get(`${key} ${name}`)?.id;
      if (id !== undefined) return id;
      const time = Math.min(changed, Date.now());
      const fresh = { id: newId(), version: 1, changed: time, name: parseName(name), content };
      named.set(`${key} ${name}`, fresh);
      return fresh.id;
    });
    await store.put([...named.values()]);
    return { added: named.size, known: filed.length - named.size, ids };
  }
}
