// A model folder whose files are stored on this device as they are read, and read from there the next time.
import { fileOf, type ModelSource, type OpenFile, type OpenOptions } from "../loader/model-source.js";
import { sha256 } from "../loader/sha256.js";
import { parseWeightsIndex, type Piece, type WeightsIndex } from "../loader/weights-index.js";
import { Gpt2Error, LoadError } from "../shared/errors.js";
import { goOn } from "./interrupted.js";
import { whileAlone } from "./locks.js";
import {
  readRecords,
  sizeOf,
  storedBytes,
  writeRecord,
  type ModelRecord,
  type StoredRecord,
} from "./records.js";
import { makeRoom, removeRecord, sweep } from "./room.js";
import { openPiece, readRight, readStored } from "./stored-piece.js";
import { storeStream } from "./stored-stream.js";
import { bytesOf, writeFile, type Store } from "./store.js";

const indexFile = "weights.json";
const weightsFile = "model.safetensors";
/** Files that are read whole, and have no hash but in the index. */
const isSmall = (name: string) => /\.(json|txt)$/.test(name);

/** How the host is asked whether a stored model is still the one that it has. */
export interface Revalidation {
  /** Asks once, and does not try again. */
  hasChanged: (record: ModelRecord, signal: AbortSignal) => Promise<boolean>;
  /** The host's own name for what it has now, where there is one. */
  version?: NonNullable<ModelSource["version"]>;
  /** After so long without an answer the stored model is used, and the answer counts for the next visit. */
  patienceMs: number;
}

const unwritten = (error: unknown) =>
  (error as Error | null)?.name === "QuotaExceededError"
    ? "the browser gives this site no more room"
    : `it cannot be written (${String(error)})`;
/** How many pieces of a conversion are stored between two notes of how far it is. */
const piecesToNote = 4;
const isMissing = (error: unknown) => error instanceof LoadError && error.code === "not-found";

export class CachedSource implements ModelSource {
  readonly id: string;
  private refusal: string | null = null;
  private readonly files = new Map<string, Piece>();
  private readonly missing = new Set<string>();
  private index: WeightsIndex | undefined;
  /** The host's own name for what it has now. */
  private hostVersion: Promise<string | undefined> | undefined;
  /** The stored model that is read, or that there is none. */
  private stored: Promise<StoredRecord | undefined> | undefined;
  /** A conversion that was interrupted. */
  private unfinished: StoredRecord | undefined;
  /** Whether the host has another version than what is stored, so that other caches are old, too. */
  private hasChanged = false;
  /** Of what is stored, once it is known. */
  private known: string | undefined;
  private room: Promise<string | null> | undefined;
  /** What is being written of the model but its pieces, in order. */
  private writing: Promise<void> = Promise.resolve();

  private readonly store: Store;
  private readonly source: ModelSource;
  /** undefined: what is stored is never used unasked, only pieces are by their hashes. */
  private readonly revalidation: Revalidation | undefined;

  /** `id`: what the model is listed by. */
  constructor(store: Store, source: ModelSource, id: string, revalidation: Revalidation | undefined) {
    this.store = store;
    this.source = source;
    this.id = id;
    this.revalidation = revalidation;
  }

  get weights(): ModelSource["weights"] {
    return this.source.weights;
  }

  get keepsConverted(): boolean {
    return this.revalidation !== undefined;
  }

  async list(signal: AbortSignal): Promise<string[] | undefined> {
    return this.source.list?.(signal);
  }

  async open(name: string, options: OpenOptions): Promise<OpenFile> {
    this.stored ??= this.findStored(options.signal);
    const stored = await this.stored.catch(() => undefined); // a store that fails is as none
    options.signal.throwIfAborted();
    const piece = (stored ?? this.index)?.pieces.find(({ path }) => path === name);
    if (piece && stored?.weights && options.anew) {
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

  /** Waits until what was read has been written. */
  async notStored(): Promise<string | null> {
    await this.writing;
    return this.refusal;
  }

  /** The stored version of the model that may be used, if there is one. */
  private async findStored(signal: AbortSignal): Promise<StoredRecord | undefined> {
    const { revalidation } = this;
    if (!revalidation) return undefined;
    // Before any file is read: what is read then is this version, or a newer one.
    this.hostVersion = revalidation.version?.(signal).catch(() => undefined);
    for (const record of await readRecords(this.store, this.id)) {
      // What is floats at its host is stored as it was converted.
      const isRight = record.weights === this.weights || (!this.weights && record.weights === "q8");
      if (!isRight) continue;
      if (record.weightBytes !== undefined) {
        this.unfinished ??= record;
        continue;
      }
      const outdated = this.isOutdated(record, revalidation, signal); // asked while it is looked what is there
      const { isWhole } = await storedBytes(this.store, record);
      const isOutdated = await outdated;
      if (!isWhole) continue;
      this.hasChanged = isOutdated;
      if (this.hasChanged) return undefined;
      this.write(() => writeRecord(this.store, record)); // its use
      return record;
    }
    return undefined;
  }

  /** Whether the host has another version; false where it does not say so in time. */
  private async isOutdated(
    record: StoredRecord,
    { hasChanged, patienceMs }: Revalidation,
    signal: AbortSignal,
  ): Promise<boolean> {
    const answers = hasChanged(record, signal);
    const wasChanged = (await this.store.size("changed", record.key)) !== undefined;
    const late = new Promise<undefined>((resolve) => {
      if (!wasChanged) setTimeout(() => resolve(undefined), patienceMs);
    });
    const answer = await Promise.race([answers.catch(() => false), late]);
    if (answer !== undefined) return answer;
    void answers.then(
      (isChanged) => {
        if (isChanged) this.write(() => writeFile(this.store, "changed", record.key));
      },
      () => undefined,
    );
    return false;
  }

  /** A small file of the stored model; where it is damaged, the host's, if that is of the same version. */
  private async openSmall(
    record: StoredRecord,
    file: Piece,
    { signal, anew = false }: OpenOptions,
  ): Promise<OpenFile> {
    const bytes = anew ? undefined : await readRight(this.store, file);
    if (bytes) return { ...fileOf(bytes), origin: "cache" };
    const fetched = await bytesOf((await this.source.open(file.path, { signal, anew: true })).stream);
    if ((await sha256(fetched)) !== file.sha256) {
      await this.forget(record, file.path);
    }
    this.write(() => writeFile(this.store, "blobs", file.sha256, fetched));
    return fileOf(fetched);
  }

  /** Removes a stored model of which `file` is damaged, and which nothing else gives as it was; throws. */
  private async forget(record: StoredRecord, file: string): Promise<never> {
    await whileAlone(() => removeRecord(this.store, record));
    throw new LoadError(
      "corrupt",
      `${file} was damaged where it is stored, and is not to be had as it was: it is removed, load the model again`,
    );
  }

  private async keepSmall(name: string, { signal, anew = false }: OpenOptions): Promise<OpenFile> {
    let bytes: Uint8Array<ArrayBuffer>;
    try {
      const file = await this.source.open(name, { signal, anew: anew || this.hasChanged });
      bytes = await bytesOf(file.stream);
    } catch (error) {
      if (isMissing(error)) this.missing.add(name);
      this.save();
      throw error;
    }
    if (name === indexFile) this.index = readIndex(bytes);
    const file = { path: name, size: bytes.length, sha256: await sha256(bytes) };
    this.write(() => writeFile(this.store, "blobs", file.sha256, bytes));
    this.files.set(name, file);
    this.save();
    return fileOf(bytes);
  }

  private async openPiece(piece: Piece, options: OpenOptions): Promise<OpenFile> {
    try {
      const stored = options.anew ? undefined : await readStored(this.store, piece, options.from);
      if (stored) return stored;
      this.room ??= this.makeRoom();
      this.refusal ??= await this.room;
      if (this.refusal === null) return await this.download(piece, options);
    } catch (error) {
      // What goes wrong with the store is no reason not to load.
      if (error instanceof Gpt2Error || options.signal.aborted) throw error;
      this.refusal ??= unwritten(error);
    }
    return this.source.open(piece.path, options);
  }

  private download(piece: Piece, options: OpenOptions): Promise<OpenFile> {
    return openPiece(this.store, this.source, piece, {
      ...options,
      onRefusal: (error) => (this.refusal = unwritten(error)),
      onStored: () => this.write(() => this.finish()),
    });
  }

  /** The weights of a model that is converted while it is read. What is stored of it has an index of our own. */
  private async keepConverted(options: OpenOptions): Promise<OpenFile> {
    const { unfinished } = this;
    const version = unfinished && (await this.hostVersion);
    if (unfinished && unfinished.version === version) {
      return goOn(this.store, unfinished, weightsFile, options.signal, async (stored) => {
        const rest = await this.source.open(weightsFile, { ...options, from: sizeOf(stored) });
        return this.storeConverted(rest, unfinished.weightBytes ?? 0, stored);
      });
    }
    const file = await this.source.open(weightsFile, options);
    if (!this.weights || !this.revalidation || file.size === undefined) return file;
    return this.storeConverted(file, file.size);
  }

  /** `file`, stored while it is read, if there is room: what comes behind `stored` of the `size` bytes that a conversion makes. */
  private async storeConverted(
    file: OpenFile,
    size: number,
    stored: readonly Piece[] = [],
  ): Promise<OpenFile> {
    const missing = size - sizeOf(stored);
    this.refusal ??= await whileAlone(() => makeRoom(this.store, missing, this.id)).catch(unwritten);
    if (this.refusal !== null) return file;
    return storeStream(this.store, weightsFile, file, {
      stored,
      onPiece: (pieces) => {
        if (pieces.length % piecesToNote === 0) this.noteUnfinished([...pieces], size);
      },
      onRefusal: (error) => (this.refusal = unwritten(error)),
      onStored: (pieces) => this.write(() => this.keepIndex({ size, pieces })),
    });
  }

  /** So that a load that is interrupted goes on behind `pieces` the next time. */
  private noteUnfinished(pieces: Piece[], weightBytes: number): void {
    this.write(async () => {
      const version = await this.hostVersion;
      if (version !== undefined) {
        await writeRecord(this.store, { ...this.record(), version, pieces, weightBytes });
      }
    });
  }

  private async keepIndex(index: Pick<WeightsIndex, "size" | "pieces">): Promise<void> {
    const bytes = new TextEncoder().encode(JSON.stringify(index));
    this.index = readIndex(bytes);
    const file = { path: indexFile, size: bytes.length, sha256: await sha256(bytes) };
    await writeFile(this.store, "blobs", file.sha256, bytes);
    this.files.set(indexFile, file);
    this.missing.delete(indexFile);
    this.known = await this.hostVersion;
    await this.finish();
  }

  private async makeRoom(): Promise<string | null> {
    const model = (await this.stored) ?? this.record();
    return whileAlone(async () => {
      const { missing } = await storedBytes(this.store, model); // while nothing of it is written
      return makeRoom(this.store, missing, this.id);
    });
  }

  private record() {
    return {
      id: this.id,
      weights: this.weights,
      version: this.known,
      files: [...this.files.values()],
      missing: [...this.missing],
      pieces: this.index?.pieces ?? [],
    };
  }

  /** Writes the record of what is known by now: it is listed, and its pieces are not swept away. */
  private save(): void {
    if (this.index) this.write(() => writeRecord(this.store, this.record()));
  }

  /** Once all is stored: what older versions alone needed goes. */
  private async finish(): Promise<void> {
    if (!this.index || !(await storedBytes(this.store, this.record())).isWhole) return;
    const key = await writeRecord(this.store, this.record());
    for (const older of await readRecords(this.store, this.id)) {
      if (older.key !== key && older.weights === this.weights) await removeRecord(this.store, older);
    }
    await sweep(this.store);
  }

  private write(change: () => Promise<unknown>): void {
    this.writing = this.writing
      .then(() => whileAlone(change))
      .then(
        () => undefined,
        (error: unknown) => {
          this.refusal ??= unwritten(error);
        },
      );
  }
}

/** undefined where it cannot be read: the loader says why. */
function readIndex(bytes: Uint8Array): WeightsIndex | undefined {
  try {
    return parseWeightsIndex(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}
