// A model folder whose files are stored on this device while they are read, and read from there the next time.
import {
  fileOf,
  isMissing,
  type ModelSource,
  type OpenFile,
  type OpenOptions,
} from "../sources/model-source.js";
import { readWhole } from "../sources/read-text.js";
import { sha256 } from "../sha256.js";
import type { Piece } from "../weights-index.js";
import { Gpt2Error, LoadError } from "../../shared/errors.js";
import { answerOf } from "./bounded-store.js";
import { resumeConversion } from "./resume-conversion.js";
import { markLoading, withStoreLock } from "./locks.js";
import { Recording } from "./recording.js";
import { digestOf, readRecords, sizeOf, storedBytes, type StoredRecord } from "./records.js";
import { isOutdated, type Revalidation } from "./revalidation.js";
import { makeRoom, reasonNotWritten } from "./room.js";
import { RoomyStore } from "./roomy-store.js";
import { openPiece, readRight, readStored } from "./stored-piece.js";
import { storeStream } from "./stored-stream.js";
import type { Store } from "./store.js";

const weightsFile = "model.safetensors";
/** Files that are read as a whole. Only the index can hold their hashes. */
const isSmall = (name: string) => /\.(json|txt|model)$/.test(name);
/** The progress of a conversion is recorded after every so many stored pieces. */
const piecesPerRecord = 4;

export class CachedSource implements ModelSource {
  readonly id: string;
  /** The host's own name for the current version. */
  private hostVersion: Promise<string | undefined> | undefined;
  /** The stored model to read, or undefined if there is none. */
  private stored: Promise<StoredRecord | undefined> | undefined;
  /** A conversion that was interrupted. */
  private unfinished: StoredRecord | undefined;
  /** The stored model, if its host reports another version. Other caches are then outdated, too. */
  private outdated: StoredRecord | undefined;
  /** Whether a damaged stored model was removed. */
  private hasForgotten = false;
  private room: Promise<string | null> | undefined;
  private stopMarking: () => void = () => {};

  private readonly recording: Recording;
  private readonly plain: Store;
  /** For pieces, which may be written while other tabs change the list of models. */
  private readonly store: Store;
  private readonly source: ModelSource;
  /** undefined: the stored model is never used unchecked; only its pieces are, by their hashes. */
  private readonly revalidation: Revalidation | undefined;

  /** `id` is what the model is listed by. */
  constructor(store: Store, source: ModelSource, id: string, revalidation: Revalidation | undefined) {
    this.plain = store;
    this.store = new RoomyStore(store, id, withStoreLock);
    this.source = source;
    this.id = id;
    this.revalidation = revalidation;
    const alone = new RoomyStore(store, id, (change) => change()); // the recording already holds the lock
    this.recording = new Recording(alone, id, source.weights);
  }

  get weights(): ModelSource["weights"] {
    return this.source.weights;
  }

  async list(signal: AbortSignal): Promise<string[] | undefined> {
    return this.source.list?.(signal);
  }

  async open(name: string, options: OpenOptions): Promise<OpenFile> {
    this.stored ??= this.start(options.signal);
    const stored = await this.stored;
    options.signal.throwIfAborted();
    const piece = (stored ?? this.recording.index)?.pieces.find(({ path }) => path === name);
    if (piece && stored?.weights && options.reload) {
      await this.forget(stored, name);
    }
    if (piece) return this.openPiece(piece, options);
    if (!stored) {
      if (isSmall(name)) return this.keepSmall(name, options);
      return name === weightsFile ? this.keepConverted(options) : this.source.open(name, options);
    }
    if (stored.missing.includes(name)) {
      throw new LoadError("not-found", `${stored.id} has no ${name}`);
    }
    const file = stored.files.find(({ path }) => path === name);
    return file ? this.openSmall(stored, file, options) : this.source.open(name, options);
  }

  /**
   * Call this when the model is loaded: waits until everything is written. Resolves to why the model is not stored, or
   * null.
   */
  async notStored(): Promise<string | null> {
    return this.recording.end(this.stopMarking);
  }

  another(): ModelSource | "again" | undefined {
    if (this.hasForgotten) return "again";
    if (!this.outdated || !this.revalidation) return undefined;
    this.stopMarking();
    const stays = { ...this.revalidation, hasChanged: async () => false };
    return new CachedSource(this.plain, this.source, this.id, stays);
  }

  /** The stored model that may be used, if any. A store that fails counts as empty. */
  private async start(signal: AbortSignal): Promise<StoredRecord | undefined> {
    try {
      const marking = markLoading(await digestOf(this.id));
      const stop = () => void marking.then((release) => release()); // also if the lock is granted later
      signal.addEventListener("abort", stop);
      this.stopMarking = () => {
        signal.removeEventListener("abort", stop);
        stop();
      };
      if (signal.aborted) stop();
      await answerOf(marking);
      return this.revalidation && (await this.findStored(this.revalidation, signal));
    } catch (error) {
      this.recording.refuse(error);
      return undefined;
    }
  }

  private async findStored(
    revalidation: Revalidation,
    signal: AbortSignal,
  ): Promise<StoredRecord | undefined> {
    // Asked before any file is read, so that the files are of this version or a newer one.
    this.hostVersion = revalidation.version?.(signal).catch(() => undefined);
    for (const record of await readRecords(this.store, this.id)) {
      // A float model is stored in its converted form.
      const isRight = record.weights === this.weights || (!this.weights && record.weights === "q8");
      if (!isRight) continue;
      if (record.weightBytes !== undefined) {
        this.unfinished ??= record;
        continue;
      }
      const mark = () => this.recording.mark(record.key);
      // The host is asked while the store is searched.
      const outdated = isOutdated(this.store, record, revalidation, signal, mark);
      outdated.catch(() => {});
      if (!(await storedBytes(this.store, record)).isWhole) continue;
      if (await outdated) {
        this.outdated = record;
        return undefined;
      }
      this.recording.use(record);
      return record;
    }
    return undefined;
  }

  /** A small file of the stored model. If it is damaged, the host's file if that is of the same version. */
  private async openSmall(
    record: StoredRecord,
    file: Piece,
    { signal, reload = false }: OpenOptions,
  ): Promise<OpenFile> {
    const bytes = reload ? undefined : await readRight(this.store, file);
    if (bytes) return { ...fileOf(bytes), origin: "cache" };
    const opened = await this.source.open(file.path, { signal, reload: true });
    const fetched = await readWhole(opened, file.path, signal);
    if ((await sha256(fetched)) !== file.sha256) {
      await this.forget(record, file.path);
    }
    this.recording.replace(file, fetched);
    return fileOf(fetched);
  }

  /** Removes a stored model whose `file` is damaged and no longer available in that version; throws. */
  private async forget(record: StoredRecord, file: string): Promise<never> {
    this.hasForgotten = true;
    await this.recording.remove(record);
    throw new LoadError(
      "corrupt",
      `the stored copy of ${file} was damaged, could not be downloaded again, and was removed: load the model again`,
    );
  }

  private async keepSmall(name: string, { signal, reload = false }: OpenOptions): Promise<OpenFile> {
    let bytes: Uint8Array<ArrayBuffer>;
    try {
      const file = await this.source.open(name, { signal, reload: reload || this.outdated !== undefined });
      bytes = await readWhole(file, name, signal);
    } catch (error) {
      if (isMissing(error)) this.recording.addMissing(name);
      throw error;
    }
    await this.recording.addFile(name, bytes);
    return fileOf(bytes);
  }

  private async openPiece(piece: Piece, options: OpenOptions): Promise<OpenFile> {
    const { recording } = this;
    try {
      const stored = options.reload ? undefined : await readStored(this.store, piece, options.from);
      if (stored) return stored;
      // `hasRoom` calls this once, before anything is written.
      const missing = async () => (await storedBytes(this.store, recording.model)).missing;
      if (await this.hasRoom(missing)) return await this.download(piece, options);
    } catch (error) {
      // A store that fails does not stop the load.
      if (error instanceof Gpt2Error || options.signal.aborted) throw error;
      recording.refuse(error);
    }
    return this.source.open(piece.path, options);
  }

  private download(piece: Piece, options: OpenOptions): Promise<OpenFile> {
    return openPiece(this.store, this.source, piece, {
      ...options,
      onRefusal: (error) => this.recording.refuse(error),
      onStored: () => this.recording.afterPiece(),
    });
  }

  /** Makes room for the missing bytes, once. Resolves to whether to store the model. */
  private async hasRoom(missing: () => Promise<number>): Promise<boolean> {
    const { recording } = this;
    if (recording.refusal === null) {
      this.room ??= withStoreLock(async () => makeRoom(this.store, await missing(), this.id)).catch(
        reasonNotWritten,
      );
      const refusal = await this.room;
      recording.refusal ??= refusal; // another call may have failed in the meantime
    }
    return recording.refusal === null;
  }

  /** The weights of a model that is converted while it is read. They are stored with an index of our own. */
  private async keepConverted(options: OpenOptions): Promise<OpenFile> {
    const { unfinished } = this;
    const version = unfinished && (await this.hostVersion);
    if (unfinished && unfinished.version === version) {
      return resumeConversion(this.store, unfinished, weightsFile, options.signal, async (stored) => {
        const rest = await this.source.open(weightsFile, { ...options, from: sizeOf(stored) });
        return this.storeConverted(rest, unfinished.weightBytes ?? 0, stored);
      });
    }
    const file = await this.source.open(weightsFile, options);
    if (!this.weights || !this.revalidation || file.size === undefined) return file;
    return this.storeConverted(file, file.size);
  }

  /**
   * `file`, which is stored while it is read if there is room. `stored` are the pieces that are stored already, and
   * `size` is the size of the converted file.
   */
  private async storeConverted(
    file: OpenFile,
    size: number,
    stored: readonly Piece[] = [],
  ): Promise<OpenFile> {
    const { recording } = this;
    if (!(await this.hasRoom(async () => size - sizeOf(stored)))) return file;
    const note = async (pieces: Piece[]) => {
      const version = await this.hostVersion;
      if (version !== undefined) recording.noteUnfinished(pieces, size, version);
    };
    return storeStream(this.store, weightsFile, file, {
      stored,
      onPiece: (pieces) => {
        if (pieces.length % piecesPerRecord === 0) void note([...pieces]);
        return recording.refusal === null;
      },
      onRefusal: (error) => recording.refuse(error),
      onStored: async (pieces) => recording.endConversion({ size, pieces }, await this.hostVersion),
    });
  }
}
