// The texts of this page in the browser's database. Each has two records, written in turn, so that a record that is damaged
// or half written leaves the one before it. A text with a name has a third record. Pages of older releases neither read
// nor change that, and a tab may rename a text while another tab writes it.
import { openDB, type DBSchema, type IDBPDatabase } from "idb";
import { withRoom } from "./with-room.js";

const databaseName = "gpt2-texts";
const release = 1;

interface RecordKey {
  /** The page's path: all pages of a host share one database, and so do files on disk. */
  path: string;
  id: string;
  /** 0 or 1; 2 for the name. */
  slot: number;
}

interface TextRecord extends RecordKey {
  /** Increases with each record of the same text. */
  version: number;
  /** When the text was last changed, in milliseconds since 1970. */
  changed: number;
  content: unknown;
}

/** It has no time of change, so the index does not list it. */
interface NameRecord extends RecordKey {
  name: string;
}

const nameSlot = 2;

interface Schema extends DBSchema {
  texts: {
    key: [path: string, id: string, slot: number];
    value: TextRecord | NameRecord;
    indexes: { changed: [path: string, changed: number] };
  };
}

/** One record of a text. Another page of the origin may have written `content`. */
export interface StoredVersion {
  version: number;
  changed: number;
  content: unknown;
}

/** Opens the database, even if a later release of the page has upgraded it. */
function openDatabase(terminated: () => void): Promise<IDBPDatabase<Schema>> {
  const callbacks = {
    upgrade(database: IDBPDatabase<Schema>) {
      const texts = database.createObjectStore("texts", { keyPath: ["path", "id", "slot"] });
      texts.createIndex("changed", ["path", "changed"]);
    },
    // A later release wants to upgrade the database, or it is being deleted.
    blocking: (_current: number, _next: number | null, event: IDBVersionChangeEvent) => {
      (event.target as IDBDatabase).close();
      terminated();
    },
    terminated,
  };
  return openDB<Schema>(databaseName, release, callbacks).catch((error: unknown) => {
    if (!(error instanceof DOMException) || error.name !== "VersionError") throw error;
    return openDB<Schema>(databaseName, undefined, callbacks);
  });
}

/** The slowest disks need less time. */
const patienceMs = 15_000;

/** Waits for a write; rejects if the database does not answer in time. */
async function patiently<T>(write: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DOMException("", "TimeoutError")), patienceMs);
  });
  return Promise.race([write, late]).finally(() => clearTimeout(timer));
}

/** A version above this is damaged: it could not be increased with each change. */
const mostVersion = 2 ** 52;
/** The largest date, in milliseconds since 1970. */
const mostTime = 8.64e15;

const isWithin = (value: unknown, least: number, most: number): value is number =>
  typeof value === "number" && value >= least && value <= most;

/** A text that is not in the store yet. */
export interface NewText {
  id: string;
  changed: number;
  content: unknown;
  name: string | undefined;
}

function parseVersion(value: unknown): StoredVersion | undefined {
  const { version, changed, content } = (value ?? {}) as Record<string, unknown>;
  if (!Number.isInteger(version) || !isWithin(version, 1, mostVersion)) return undefined;
  return { version, changed: isWithin(changed, 0, mostTime) ? changed : 0, content };
}

/** The most characters of a name. */
const mostName = 200;

/** A name as one line, trimmed; undefined if there is none. */
export function parseName({ name }: { readonly name?: unknown }): string | undefined {
  const words = typeof name === "string" ? name.replace(/\s+/gu, " ").trim() : "";
  return words === "" ? undefined : Array.from(words).slice(0, mostName).join("");
}

export class TextStore {
  private readonly database: IDBPDatabase<Schema>;
  private readonly path: string;
  /** The latest known time of a change of any text. */
  private latest = 0;

  private constructor(database: IDBPDatabase<Schema>, path: string) {
    this.database = database;
    this.path = path;
  }

  /** The texts of the page at `path`. Calls `closed` when the store becomes unusable. */
  static async open(path: string, closed: () => void): Promise<TextStore> {
    return new TextStore(await openDatabase(closed), path);
  }

  /** The ids of all texts, the last changed one first. */
  async ids(): Promise<string[]> {
    const range = IDBKeyRange.bound([this.path], [this.path, []]);
    const index = this.database.transaction("texts").store.index("changed");
    const [keys, newest]: [readonly unknown[], { key: unknown } | null] = await Promise.all([
      index.getAllKeys(range),
      index.openKeyCursor(range, "prev"),
    ]);
    const [, latest] = Array.isArray(newest?.key) ? (newest.key as unknown[]) : [];
    if (isWithin(latest, 0, mostTime)) this.latest = Math.max(this.latest, latest);
    const ids = keys.map((key) => (Array.isArray(key) ? (key[1] as unknown) : undefined));
    return [...new Set(ids.reverse())].filter((id) => typeof id === "string");
  }

  /** A time for a change: later than those of all stored changes, even if the clock was set back. */
  timeOfChange(): number {
    this.latest = Math.max(Date.now(), this.latest + 1);
    return this.latest;
  }

  /** The stored versions of a text, the newest first; an unreadable one is undefined. */
  async versions(id: string): Promise<(StoredVersion | undefined)[]> {
    const isThere = await Promise.all(
      [0, 1].map((slot) => this.database.count("texts", [this.path, id, slot])),
    );
    const slots = [0, 1].filter((slot) => isThere[slot]);
    const read = (slot: number) => this.database.get("texts", [this.path, id, slot]).catch(() => undefined);
    const versions = (await Promise.all(slots.map(read))).map(parseVersion);
    return versions.sort((one, other) => (other?.version ?? -1) - (one?.version ?? -1));
  }

  /**
   * Stores `content` as a version of the text, replacing the last but one. The request is complete before this returns,
   * so the page may close at once.
   */
  put(id: string, version: StoredVersion): Promise<void> {
    return withRoom(() => patiently(this.putOnce(id, version)));
  }

  private async putOnce(id: string, { version, changed, content }: StoredVersion): Promise<void> {
    const transaction = this.database.transaction("texts", "readwrite");
    const { path } = this;
    const put = transaction.store.put({ path, id, slot: version % 2, version, changed, content });
    put.catch(() => undefined); // the transaction reports the error
    transaction.commit();
    await transaction.done;
  }

  /** Stores new texts: all of them, or none on failure. */
  add(texts: readonly NewText[]): Promise<void> {
    return withRoom(() => patiently(this.addOnce(texts)));
  }

  private async addOnce(texts: readonly NewText[]): Promise<void> {
    const transaction = this.database.transaction("texts", "readwrite");
    const { path } = this;
    const records = texts.flatMap(({ id, changed, content, name }): (TextRecord | NameRecord)[] => [
      { path, id, slot: 1, version: 1, changed, content },
      ...(name === undefined ? [] : [{ path, id, slot: nameSlot, name }]),
    ]);
    try {
      for (const record of records) transaction.store.put(record).catch(() => undefined); // the transaction reports the error
    } catch (error) {
      transaction.done.catch(() => undefined);
      transaction.abort(); // a record that is too large is refused at once: those before it would stay
      throw error;
    }
    transaction.commit();
    await transaction.done;
  }

  /** The text's own name; undefined if it has none. */
  async name(id: string): Promise<string | undefined> {
    const record: unknown = await this.database
      .get("texts", [this.path, id, nameSlot])
      .catch(() => undefined);
    return parseName(Object(record) as Record<string, unknown>);
  }

  /** Names the text; "" removes the name. */
  async rename(id: string, name: string): Promise<void> {
    const { path } = this;
    await withRoom(() => patiently(this.database.put("texts", { path, id, slot: nameSlot, name })));
  }

  /** Deletes the text and its name. The request is complete before this returns, so the page may close at once. */
  async remove(id: string): Promise<void> {
    const transaction = this.database.transaction("texts", "readwrite");
    const { path } = this;
    const range = IDBKeyRange.bound([path, id], [path, id, []]);
    transaction.store.delete(range).catch(() => undefined); // the transaction reports the error
    transaction.commit();
    await transaction.done;
  }
}
