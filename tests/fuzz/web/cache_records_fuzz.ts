// Any content of the store, and any failure in it. A load reads the right bytes, listModels lists no incomplete model as
// complete, and removeModel removes. Only a Gpt2Error is thrown.
import * as fc from "fast-check";
import { CachedSource } from "../../../web/src/cache/cached-source.js";
import { keepModel, listModels, removeModel, storage } from "../../../web/src/cache/models.js";
import { openStoreFor } from "../../../web/src/cache/open-store.js";
import { bytesOf } from "../../../web/src/cache/store.js";
import { parseWeightsIndex } from "../../../web/src/loader/weights-index.js";
import { Gpt2Error, LoadError } from "../../../web/src/shared/errors.js";
import { FakeDisk } from "../../web/support/fake-opfs.js";
import { revalidationBy, bytes, hash, Host, id, small } from "../../web/support/model-host.js";
import { hashAtOnce, shortenPauses } from "./hurry.js";
import { hashes, recordText } from "./record-text.js";
import { fuzzTarget } from "./target.js";

const signal = new AbortController().signal;
const contents = [bytes(40, 1), bytes(30, 2)];
const makeHost = () => new Host(contents);

const folders = ["blobs", "models", "kept", "changed"] as const;
interface Damage {
  folder: (typeof folders)[number];
  /** The number of a file of the folder, modulo the number of files. */
  file: number;
  change:
    | { kind: "flip"; at: number; bit: number }
    | { kind: "cut"; at: number }
    | { kind: "grow"; by: string }
    | { kind: "remove" }
    | { kind: "rename"; to: string }
    | { kind: "time"; to: number }
    | { kind: "record"; text: string };
}

const change: fc.Arbitrary<Damage["change"]> = fc.oneof(
  fc.record({ kind: fc.constant("flip" as const), at: fc.nat(900), bit: fc.nat(7) }),
  fc.record({ kind: fc.constant("cut" as const), at: fc.nat(900) }),
  fc.record({ kind: fc.constant("grow" as const), by: fc.string({ maxLength: 9 }) }),
  fc.record({ kind: fc.constant("remove" as const) }),
  fc.record({
    kind: fc.constant("rename" as const),
    to: fc.oneof(fc.string({ unit: "binary", maxLength: 9 }), hashes),
  }),
  fc.record({ kind: fc.constant("time" as const), to: fc.constantFrom(0, -1e12, 1e13, 8.64e15) }),
  fc.record({ kind: fc.constant("record" as const), text: fc.oneof(recordText, fc.json(), fc.string()) }),
);
const arbitrary = fc.record({
  damages: fc.array(fc.record({ folder: fc.constantFrom(...folders), file: fc.nat(9), change }), {
    maxLength: 4,
  }),
  /** The operations of the file system that fail, counted from the first, each with its error. */
  faults: fc.array(
    fc.record({
      at: fc.nat(120),
      name: fc.constantFrom(
        "QuotaExceededError",
        "NotReadableError",
        "NoModificationAllowedError",
        "InvalidStateError",
      ),
    }),
    { maxLength: 2 },
  ),
  quota: fc.constantFrom(Infinity, 0, 300, 900),
  act: fc.constantFrom("load", "remove", "keep"),
});
type Input = typeof arbitrary extends fc.Arbitrary<infer T> ? T : never;

/** A disk with the whole model, as `navigator` has it from now on. */
async function freshDisk(): Promise<FakeDisk> {
  const disk = new FakeDisk();
  Object.defineProperty(globalThis, "navigator", { value: disk.navigator, configurable: true });
  await loadAll(makeHost());
  return disk;
}

/** Reads a piece as the loader does: past the store if the stored bytes have the wrong hash. */
async function readRight(source: CachedSource, path: string, sha256: string): Promise<Uint8Array> {
  for (const reload of [false, true]) {
    try {
      const found = await bytesOf((await source.open(path, { signal, reload })).stream);
      if (hash(found) === sha256) return found;
    } catch (error) {
      if (reload || !(error instanceof LoadError && error.code === "corrupt")) throw error;
    }
  }
  throw new LoadError("corrupt", path);
}

/** Loads as the worker does, and returns what was read by name. The store checks the small files itself. */
async function loadAll(host: Host, attempts = 3): Promise<Map<string, Uint8Array>> {
  const { store } = await openStoreFor(id);
  const source = store && new CachedSource(store, host, id, revalidationBy(host));
  try {
    const read = new Map<string, Uint8Array>();
    for (const name of small.filter((each) => host.files.has(each))) {
      read.set(name, await bytesOf((await (source ?? host).open(name, { signal })).stream));
    }
    const { pieces } = parseWeightsIndex(new TextDecoder().decode(read.get("weights.json")));
    for (const { path, sha256 } of pieces) {
      if (source) read.set(path, await readRight(source, path, sha256));
    }
    await source?.notStored();
    return read;
  } catch (error) {
    if (attempts === 1 || source?.another() !== "again") throw error;
    return loadAll(host, attempts - 1);
  }
}

async function damage(disk: FakeDisk, { folder, file, change: made }: Damage): Promise<void> {
  const { files } = await disk.folder(folder);
  const [name = "", found] = [...files][file % files.size] ?? [];
  if (!found) return;
  const { bytes: old } = found;
  switch (made.kind) {
    case "record":
      found.bytes = new TextEncoder().encode(made.text);
      return;
    case "flip":
      found.bytes = old.map((byte, at) => (at === made.at % old.length ? byte ^ (1 << made.bit) : byte));
      return;
    case "cut":
      found.bytes = old.slice(0, made.at % (old.length + 1));
      return;
    case "grow":
      found.bytes = new Uint8Array([...old, ...new TextEncoder().encode(made.by)]);
      return;
    case "remove":
      files.delete(name);
      return;
    case "rename":
      files.delete(name);
      files.set(made.to, found);
      return;
    case "time":
      found.modified = made.to;
  }
}

/** What `action` resolves to; undefined if it throws a Gpt2Error. */
async function unlessRefused<T>(action: () => Promise<T>): Promise<T | undefined> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof Gpt2Error) return undefined;
    throw error;
  }
}

function failAt(disk: FakeDisk, faults: Input["faults"]): void {
  let operations = 0;
  disk.before = disk.beforeSync = () => {
    operations += 1;
    const fault = faults.find(({ at }) => at === operations);
    if (fault) throw new DOMException("fault", fault.name);
  };
}

/** Every model that is listed as complete has all its bytes on the disk. */
async function checkListed(disk: FakeDisk): Promise<void> {
  const { files } = await disk.folder("blobs");
  const stored = [...files.values()].reduce((sum, file) => sum + file.bytes.length, 0);
  for (const model of (await unlessRefused(listModels)) ?? []) {
    const isThere = model.bytes === model.totalBytes && model.bytes <= stored;
    if (model.isComplete && !isThere) throw new Error(`${model.id} is listed as complete, and is not`);
  }
}

async function checkLoads(host: Host, when: string): Promise<void> {
  const read = await unlessRefused(() => loadAll(host));
  if (!read) throw new Error(`the model does not load ${when}`);
  for (const [name, content] of read) {
    if (hash(content) !== hash(host.files.get(name) ?? bytes(0, 0)))
      throw new Error(`${name} has wrong bytes ${when}`);
  }
}

async function check({ damages, faults, quota, act }: Input): Promise<void> {
  const disk = await freshDisk();
  for (const each of damages) await damage(disk, each);
  await checkListed(disk);
  disk.quota = quota;
  failAt(disk, faults);
  await unlessRefused(storage);
  await unlessRefused(listModels);
  if (act === "remove") await unlessRefused(() => removeModel(id));
  if (act === "keep") await unlessRefused(() => keepModel(id));
  const host = makeHost();
  await checkLoads(host, "while the disk fails");
  failAt(disk, []);
  disk.quota = Infinity;
  await checkLoads(host, "once the disk works again");
  await checkListed(disk);
  host.isDown = true;
  await checkLoads(host, "from the disk alone");
  await removeModel(id);
  if ((await listModels()).some((model) => model.id === id)) throw new Error("the model was not removed");
}

const examples: Input[] = [
  // A read that failed left its file open, so that the model could not be removed.
  { damages: [], faults: [{ at: 19, name: "QuotaExceededError" }], quota: Infinity, act: "load" },
  // Making room failed, and its rejection was unhandled.
  { damages: [], faults: [{ at: 110, name: "QuotaExceededError" }], quota: 0, act: "remove" },
];

function start(): void {
  shortenPauses();
  hashAtOnce();
}

export const target = fuzzTarget<Input>({ arbitrary, examples, start, check });
