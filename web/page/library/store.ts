// The texts of this page in the browser's database. Each is one record, which one request replaces, so that a browser
// that is killed leaves the old or the new one. Earlier releases wrote two records in turn: the newest that is readable
// counts, and the next write leaves one. They stored each name as a record of its own. This release does so only for a text that
// another tab may have.
import { openDB, type IDBPDatabase, type IDBPObjectStore } from "idb";
import type { KeptText } from "../document/kept-text.js";
import { parseKept } from "../document/parse-kept.js";
import { withRoom } from "./with-room.js";

const databaseName = "gpt2-texts";

interface Facts {
  id: string;
  /** Increases with each write of the same text; 0: not stored yet. */
  version: number;
  /** When the text was last changed, in milliseconds since 1970; 0 if unknown. */
  changed: number;
  name: string | undefined;
}

/** A text as it is written: its KeptText, with options, seed, fields and model. */
export interface TextToStore extends Facts {
  content: object;
  /** Whether `name` replaces one that `rename` has stored. Otherwise that one stays, because this tab may not know it. */
  isNamed?: boolean;
}

/** A text as it was read. Another page of the origin may have written `beside`. */
export interface StoredText extends Facts {
  kept: KeptText;
  beside: unknown;
}

/** The slot of a new name, until the text is written again. The text is in 0, and in earlier releases also in 1. */
const nameSlot = 2;

type Rows = IDBPObjectStore<unknown, ["texts"], "texts", "readwrite">;

/** Opens the database in any release, and adds what is missing in that of another program. */
async function openDatabase(terminated: () => void, release?: number): Promise<IDBPDatabase> {
  const database = await openDB(databaseName, release, {
    upgrade(created) {
      if (created.objectStoreNames.contains("texts")) return;
      const texts = created.createObjectStore("texts", { keyPath: ["path", "id", "slot"] });
      texts.createIndex("changed", ["path", "changed"]);
    },
    // A later release wants to upgrade the database, or it is being deleted.
    blocking: (_current, _next, event) => {
      (event.target as IDBDatabase).close();
      terminated();
    },
    terminated,
  });
  if (database.objectStoreNames.contains("texts")) return database;
  database.close();
  return openDatabase(terminated, database.version + 1);
}

/** The slowest disks need less time. */
const patienceMs = 15_000;

/** Waits for `work`; rejects if the database does not answer in time. */
const patiently = <T>(work: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new DOMException("", "TimeoutError")), patienceMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });

/** A version above this is damaged: it could not be increased with each change. */
const mostVersion = 2 ** 52;
/** The largest date, in milliseconds since 1970. */
const mostTime = 8.64e15;

const isWithin = (value: unknown, least: number, most: number): value is number =>
  typeof value === "number" && value >= least && value <= most;

/** The most characters of a name. */
const mostName = 200;

/** A name as one line, trimmed; undefined if there is none. */
export function parseName(name: unknown): string | undefined {
  const words = typeof name === "string" ? name.replace(/\s+/gu, " ").trim() : "";
  return words === "" ? undefined : Array.from(words).slice(0, mostName).join("");
}

/** What any program may have stored. */
type Row = Readonly<Record<string, unknown>>;

/** The text in a row; none without a readable one. A damaged version or time is replaced. */
function textsIn(id: string, { version, changed, name, content }: Row): StoredText[] {
  const kept = parseKept(content);
  if (!kept) return [];
  const isVersion = Number.isInteger(version) && isWithin(version, 1, mostVersion);
  const facts = { version: isVersion ? version : 1, changed: isWithin(changed, 0, mostTime) ? changed : 0 };
  return [{ id, ...facts, name: parseName(name), kept, beside: content }];
}

export class TextStore {
  private readonly database: IDBPDatabase;
  /** All pages of a host share one database, and so do files on disk. */
  private readonly path: string;
  /** The latest known time of a change of any text. */
  private latest = 0;

  private constructor(database: IDBPDatabase, path: string) {
    this.database = database;
    this.path = path;
  }

  /** The texts of the page at `path`. Calls `closed` when the store becomes unusable. */
  static async open(path: string, closed: () => void): Promise<TextStore> {
    return new TextStore(await patiently(openDatabase(closed)), path);
  }

  /** The ids of all texts, the last changed one first, and those without a time last. */
  async ids(): Promise<string[]> {
    const range = IDBKeyRange.bound([this.path], [this.path, []]);
    const { store } = this.database.transaction("texts");
    const index = store.index("changed");
    const [all, byTime, newest]: [unknown[], unknown[], { key: unknown } | null] = await Promise.all([
      store.getAllKeys(range),
      index.getAllKeys(range),
      index.openKeyCursor(range, "prev"),
    ]);
    const [, latest]: unknown[] = [newest?.key].flat();
    if (isWithin(latest, 0, mostTime)) this.latest = Math.max(this.latest, latest);
    const ids = [...byTime.reverse(), ...all].map((key) => (key as unknown[])[1]);
    return [...new Set(ids)].filter((id) => typeof id === "string");
  }

  /** A time for a change: later than those of all stored changes, even if the clock was set back. */
  timeOfChange(): number {
    this.latest = Math.max(Date.now(), this.latest + 1);
    return this.latest;
  }

  private rowsOf(id: string): IDBKeyRange {
    return IDBKeyRange.bound([this.path, id], [this.path, id, []]);
  }

  /** Reads a text; undefined if there is none. */
  async read(id: string): Promise<StoredText | "damaged" | undefined> {
    const keys = await this.database.getAllKeys("texts", this.rowsOf(id));
    const rowAt = (key: IDBValidKey): Promise<Row | undefined> =>
      this.database.get("texts", key).catch(() => ({})); // the browser cannot read it
    const found = await Promise.all(keys.map(rowAt));
    if (found.includes(undefined)) return this.read(id); // another tab has just replaced or deleted it
    const rows = found.map((row) => Object(row) as Row);
    const [newest] = rows
      .flatMap((row) => textsIn(id, row))
      .sort((one, other) => other.version - one.version);
    if (!newest) return rows.some(({ slot }) => slot !== nameSlot) ? "damaged" : undefined;
    const { name } = rows.find(({ slot }) => slot === nameSlot) ?? newest;
    return { ...newest, name: parseName(name) };
  }

  /**
   * Makes all `changes` or, on failure, none. The requests are complete before this returns: the page may close at once. On a
   * full device it tries again while `isWanted()`. Resolves to whether the changes were made.
   */
  private write(
    changes: readonly ((rows: Rows) => Promise<unknown>)[],
    isWanted = () => true,
  ): Promise<boolean> {
    const writeOnce = async () => {
      const transaction = this.database.transaction("texts", "readwrite");
      try {
        for (const change of changes) change(transaction.store).catch(() => undefined); // the transaction reports the error
      } catch (error) {
        transaction.done.catch(() => undefined);
        transaction.abort(); // a record that is too large is refused at once: those before it would stay
        throw error;
      }
      transaction.commit();
      await transaction.done;
    };
    return withRoom(async () => isWanted() && patiently(writeOnce()).then(() => true));
  }

  /**
   * Stores `texts` in place of what is stored of them. Resolves to whether they were stored: not if `isWanted` says no. Removes
   * other records only afterwards: WebKit may commit a deletion and lose the record that follows it, while a page closes.
   */
  async put(texts: readonly TextToStore[], isWanted?: () => boolean): Promise<boolean> {
    const { path } = this;
    const records = texts.map(({ isNamed: _, ...text }) => ({ ...text, path, slot: 0 }));
    const puts = records.map((record) => (rows: Rows) => rows.put(record));
    if (!(await this.write(puts, isWanted))) return false;
    const others = ({ id, isNamed }: TextToStore) =>
      IDBKeyRange.bound([path, id, 1], [path, id, isNamed ? [] : 1]);
    return this.write(texts.map((text) => (rows: Rows) => rows.delete(others(text))));
  }

  /** Names a text that another tab may write; "" removes the name. */
  rename(id: string, name: string): Promise<boolean> {
    const { path } = this;
    return this.write([(rows) => rows.put({ path, id, slot: nameSlot, name })]);
  }

  remove(id: string): Promise<boolean> {
    return this.write([(rows) => rows.delete(this.rowsOf(id))]);
  }
}
