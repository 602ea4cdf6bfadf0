// What a load stores of a model besides its pieces: its small files, and its record, which lists all files.
import { sha256 } from "../sha256.js";
import type { Piece, WeightsIndex } from "../weights-index.js";
import { withStoreLock } from "./locks.js";
import { readRecords, storedBytes, writeRecord, type ModelRecord, type StoredRecord } from "./records.js";
import { readIndex } from "./revalidation.js";
import { hashesOf, removeRecord, removeUnneededFiles, reasonNotWritten } from "./room.js";
import { writeFile, type Store } from "./store.js";

const indexFile = "weights.json";
/** Without these files, a record does not identify its version yet. */
const telling = [indexFile, "config.json"];

export class Recording {
  /** Why the model is not stored, in words. */
  refusal: string | null = null;
  index: WeightsIndex | undefined;
  private version: string | undefined;
  private readonly files = new Map<string, Piece>();
  private readonly missing = new Set<string>();
  /** The stored model in use; undefined while a new one is stored. */
  private used: StoredRecord | undefined;
  /** The key of the last written record. */
  private key: string | undefined;
  private hasWritten = false;
  /** Whether another tab has held the lock for too long. Further changes are then skipped, because each would wait as long. */
  private isLockedOut = false;
  /** All changes run one after another. */
  private changes: Promise<void> = Promise.resolve();

  private readonly store: Store;
  private readonly id: string;
  private readonly weights: ModelRecord["weights"];

  constructor(store: Store, id: string, weights: ModelRecord["weights"]) {
    this.store = store;
    this.id = id;
    this.weights = weights;
  }

  get model(): ModelRecord {
    return (
      this.used ?? {
        id: this.id,
        weights: this.weights,
        version: this.version,
        files: [...this.files.values()],
        missing: [...this.missing],
        pieces: this.index?.pieces ?? [],
      }
    );
  }

  refuse(error: unknown): void {
    this.refusal ??= reasonNotWritten(error);
  }

  /** Records that the stored model `record` was used, and when. */
  use(record: StoredRecord): void {
    this.used = record;
    this.key = record.key;
    this.change(async () => {
      if (await this.isListed()) await writeRecord(this.store, record);
    });
  }

  /** Records that the host has no file `name`. */
  addMissing(name: string): void {
    this.missing.add(name);
    this.save();
  }

  async addFile(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    if (name === indexFile) this.index = readIndex(bytes);
    const file = { path: name, size: bytes.length, sha256: await sha256(bytes) };
    this.write(() => writeFile(this.store, "blobs", file.sha256, bytes));
    this.files.set(name, file);
    this.missing.delete(name);
    this.save();
  }

  /** Replaces a stored file that is damaged. */
  replace(file: Piece, bytes: Uint8Array<ArrayBuffer>): void {
    this.write(() => writeFile(this.store, "blobs", file.sha256, bytes));
  }

  /** Marks the record of `key`: its host has a newer version. */
  mark(key: string): void {
    this.write(() => writeFile(this.store, "changed", key));
  }

  /** Records the progress of a conversion, so that the next load continues after `pieces`. */
  noteUnfinished(pieces: Piece[], weightBytes: number, version: string): void {
    this.write(async () => {
      if (await this.isListed()) {
        this.key = await writeRecord(this.store, { ...this.model, version, pieces, weightBytes });
      }
    });
  }

  /** Records the end of a conversion, and stores an index of our own. */
  async endConversion(
    index: Pick<WeightsIndex, "size" | "pieces">,
    version: string | undefined,
  ): Promise<void> {
    this.version = version;
    await this.addFile(indexFile, new TextEncoder().encode(JSON.stringify(index)));
  }

  /** Call this when a piece is complete. If the model was removed in the meantime, the piece is removed, too. */
  afterPiece(): void {
    this.hasWritten = true;
    this.change(() => this.isListed());
  }

  /**
   * Call this when the model is loaded. After everything is written, resolves to why the model is not stored, or null.
   */
  async end(stopMarking: () => void): Promise<string | null> {
    if (!this.used) this.write(() => this.finish());
    await this.changes;
    stopMarking();
    if (this.hasWritten) this.change(() => removeUnneededFiles(this.store));
    await this.changes;
    return this.refusal;
  }

  /** Removes `record`, one of whose files is damaged. */
  async remove(record: StoredRecord): Promise<void> {
    this.change(() => removeRecord(this.store, record));
    await this.changes;
  }

  /** The record protects the model's files from being removed as unneeded. */
  private save(): void {
    if (!this.index || !telling.every((name) => this.files.has(name))) return;
    this.write(async () => {
      if (await this.isListed()) this.key = await writeRecord(this.store, { ...this.model, loading: true });
    });
  }

  /** Lists the model as complete, and removes its older versions. */
  private async finish(): Promise<void> {
    if (!this.index || !(await this.isListed())) return;
    if (!(await storedBytes(this.store, this.model)).isWhole) {
      this.refusal ??= "a part of it was removed during loading";
      return;
    }
    const key = await writeRecord(this.store, this.model);
    for (const older of await readRecords(this.store, this.id)) {
      if (older.key !== key && older.weights === this.weights) await removeRecord(this.store, older);
    }
  }

  /**
   * Whether the model is still listed. If it was removed in the meantime, its new files are removed and no more are
   * stored.
   */
  private async isListed(): Promise<boolean> {
    if (this.key === undefined || (await this.store.size("models", this.key)) !== undefined) return true;
    this.refusal ??= "it was removed during loading";
    await removeUnneededFiles(this.store, hashesOf(this.model));
    return false;
  }

  private write(change: () => Promise<unknown>): void {
    this.hasWritten = true;
    this.change(async () => {
      if (this.refusal === null) await change();
    });
  }

  private change(change: () => Promise<unknown>): void {
    this.changes = this.changes.then(async () => {
      if (this.isLockedOut) return;
      this.isLockedOut = true;
      const locked = () => {
        this.isLockedOut = false;
        return change();
      };
      await withStoreLock(locked).catch((error: unknown) => this.refuse(error));
    });
  }
}
