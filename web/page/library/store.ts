// The texts of this page in the browser's database. Each has two records, written in turn, so that a record that is damaged
// or half written leaves the one before it. A text with a name has a third record. Pages of older releases neither read
// nor change that, and a tab may rename a text while another tab writes it.
import { openDB, type DBSchema, type IDBPDatabase } from "idb";

const databaseName = "gpt2-texts";
const release = 1;

interface RecordKey {
  /** Of the page: files on a disk share one database, and so do all pages of a host. */
  path: string;
  id: string;
  /** 0 or 1; 2 for the name. */
  slot: number;
}

interface TextRecord extends RecordKey {
  /** One more with each record of the same text. */
  version: number;
  /** When the text was changed last, in milliseconds since 1970. */
  changed: number;
  content: unknown;
}

/** It has no time of change, so that the index does not list it. */
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

/** Opens the database, also where a later release of the page has made a newer one. */
function openDatabase(terminated: () => void): Promise<IDBPDatabase<Schema>> {
  const callbacks = {
    upgrade(database: IDBPDatabase<Schema>) {
      const texts = database.createObjectStore("texts", { keyPath: ["path", "id", "slot"] });
      texts.createIndex("changed", ["path", "changed"]);
    },
    // A later release wants to change the database, or somebody deletes it.
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

/** Above this a version is damaged: it could not grow by one each time that the text is stored. */
const mostVersion = 2 ** 52;
/** Of a date, in milliseconds since 1970. */
const mostTime = 8.64e15;

const isWithin = (value: unknown, least: number, most: number): value is number =>
  typeof value === "number" && value >= least && value <= most;

/** A text that the store does not have yet. */
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

/** Letters of a name. */
const mostName = 200;

/** One line of text, without spaces around it; undefined: there is none. */
export function parseName({ name }: { readonly name?: unknown }): string | undefined {
  const words = typeof name === "string" ? name.replace(/\s+/gu, " ").trim() : "";
  return words === "" ? undefined : Array.from(words).slice(0, mostName).join("");
}

export class TextStore {
  private readonly database: IDBPDatabase<Schema>;
  private readonly path: string;
  /** When any of the texts was changed last, as far as is known here. */
  private latest = 0;

  private constructor(database: IDBPDatabase<Schema>, path: string) {
    this.database = database;
    this.path = path;
  }

  /** The texts of the page at `path`. `closed` is called when the store can be used no longer. */
  static async open(path: string, closed: () => void): Promise<TextStore> {
    return new TextStore(await openDatabase(closed), path);
  }

  /** The ids of all texts, the one that was changed last first. */
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

  /** The time of a change: later than those of all changes that were stored before, also where the clock was set back. */
  timeOfChange(): number {
    this.latest = Math.max(Date.now(), this.latest + 1);
    return this.latest;
  }

  /** What is stored of a text, the newest first; a record that cannot be read is undefined. */
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
   * Stores `content` as a version of the text, in place of the last but one. All of it is handed over before this returns:
   * the page may be left at once.
   */
  async put(id: string, { version, changed, content }: StoredVersion): Promise<void> {
    const transaction = this.database.transaction("texts", "readwrite");
    const { path } = this;
    const put = transaction.store.put({ path, id, slot: version % 2, version, changed, content });
    put.catch(() => undefined); // the transaction fails with it
    transaction.commit();
    await transaction.done;
  }

  /** Stores new texts: all of them, or none where that fails. */
  async add(texts: readonly NewText[]): Promise<void> {
    const transaction = this.database.transaction("texts", "readwrite");
    const { path } = this;
    const records = texts.flatMap(({ id, changed, content, name }): (TextRecord | NameRecord)[] => [
      { path, id, slot: 1, version: 1, changed, content },
      ...(name === undefined ? [] : [{ path, id, slot: nameSlot, name }]),
    ]);
    for (const record of records) transaction.store.put(record).catch(() => undefined); // as above
    transaction.commit();
    await transaction.done;
  }

  /** The name that the text was given; undefined: none. */
  async name(id: string): Promise<string | undefined> {
    const record: unknown = await this.database
      .get("texts", [this.path, id, nameSlot])
      .catch(() => undefined);
    return parseName(Object(record) as Record<string, unknown>);
  }

  /** Names the text; "" takes its name away. */
  async rename(id: string, name: string): Promise<void> {
    await this.database.put("texts", { path: this.path, id, slot: nameSlot, name });
  }

  /** Deletes the text, with its name. It is handed over at once: the page may be left. */
  async remove(id: string): Promise<void> {
    const transaction = this.database.transaction("texts", "readwrite");
    const { path } = this;
    const range = IDBKeyRange.bound([path, id], [path, id, []]);
    transaction.store.delete(range).catch(() => undefined); // as above
    transaction.commit();
    await transaction.done;
  }
}
