// Any content of the store of models, and any failure in it.
import * as fc from "fast-check";
import { expect, vi } from "vitest";
import { CachedSource } from "../../../web/src/cache/cached-source.js";
import { keepModel, listModels, removeModel, storage } from "../../../web/src/cache/models.js";
import { openStoreFor } from "../../../web/src/cache/open-store.js";
import { digestOf, readRecords, writeRecord } from "../../../web/src/cache/records.js";
import { bytesOf } from "../../../web/src/cache/store.js";
import { parseWeightsIndex } from "../../../web/src/loader/weights-index.js";
import { Gpt2Error, LoadError } from "../../../web/src/shared/errors.js";
import { problemOfFileName } from "../../../web/src/shared/file-names.mjs";
import { FakeDisk } from "../support/fake-opfs.js";
import { MemoryStore } from "../support/memory-store.js";
import { bytes, hash, Host, id, revalidationBy, small } from "../support/model-host.js";
import { mostly } from "./any-text.js";
import { property, shortenPauses, unlessRefused } from "./property.js";

const signal = new AbortController().signal;
const contents = [bytes(40, 1), bytes(30, 2)];
const makeHost = () => new Host(contents);

const zeros = "0".repeat(64);
const rightHashes = fc.constantFrom(...contents.map(hash), zeros);
const among = (...values: unknown[]) => fc.constantFrom(...values);
const file = fc.record({
  path: mostly(
    among("w.000", "w.001", "config.json", "weights.json", "model.safetensors.000"),
    among("../x", "https://a/b", "", 3),
  ),
  size: mostly(among(0, 40, 30), among(-1, 1.5, 2 ** 53, 1e300)),
  sha256: mostly(rightHashes, among("xyz", "A".repeat(64))),
});
const files = fc.array(file, { maxLength: 4 });
/** The text of a record, in which a member may be missing or wrong. */
const recordText = fc
  .record(
    {
      id: mostly(among(id), among("http://other/", "", 7, null, "__proto__")),
      weights: mostly(among(undefined, "q8", "q4", "f32"), among("x", 3, null)),
      version: mostly(among(undefined, "v"), among(3, null)),
      files: mostly(files, among({})),
      missing: mostly(among([], ["config.json"]), among([3], null)),
      pieces: mostly(files, among("w")),
      weightBytes: mostly(among(undefined, 0, 10, 1e12), among(-1, "x", null)),
      loading: mostly(among(undefined, true), among(false, null)),
      sha256: mostly(among(undefined), among(zeros, 3, null)),
    },
    { requiredKeys: ["id", "files", "missing", "pieces"] },
  )
  .map((value) => JSON.stringify(value));
/** With another byte in it. */
const damagedText = fc
  .tuple(recordText, fc.nat(), fc.nat(255))
  .map(([text, at, byte]) => text.replace(text[at % text.length] ?? "", String.fromCharCode(byte)));
const minusZero = `"files":[{"path":"a","size":-0,"sha256":"${zeros}"}],"missing":[],"pieces":[]`;

property(
  "a record's file gives nothing, or one record that names files of its folder and can be written and read again",
  fc.record({
    text: fc.oneof(recordText, damagedText),
    /** Whether it has the hash that belongs to it, another one, or none as older releases wrote it. */
    sum: fc.constantFrom("right", "right", "none", "none", "wrong"),
  }),
  async ({ text, sum }) => {
    const store = new MemoryStore();
    const format = /"weights":"(q8|q4|f32)"/.exec(text)?.[1] ?? "as-is";
    const digest = await digestOf(sum === "right" ? text : `${text} `);
    const line = sum === "none" ? text : text.replace(/\}$/, `,"sha256":"${digest}"}`);
    store.put("models", `${await digestOf(id)}-${format}-0123456789abcdef`, `${line}\n`);
    const [found] = await readRecords(store, id);
    if (!found) return;
    for (const { path } of [...found.files, ...found.pieces]) expect(problemOfFileName(path)).toBeUndefined();
    const key = await writeRecord(store, found);
    const again = (await readRecords(store, id)).find((each) => each.key === key);
    expect({ ...again, used: 0 }).toEqual({ ...found, key, used: 0 });
  },
  { examples: [{ text: `{"id":"${id}",${minusZero}}`, sum: "none" }] },
);

/** Loads as the worker does, and returns what was read by name. The store checks the small files itself. */
async function load(host: Host, attempts = 3): Promise<Map<string, Uint8Array>> {
  const { store } = await openStoreFor(id);
  const source = store && new CachedSource(store, host, id, revalidationBy(host));
  const readFrom = async (name: string, reload = false) =>
    bytesOf((await (source ?? host).open(name, { signal, reload })).stream);
  try {
    const read = new Map<string, Uint8Array>();
    for (const name of small.filter((each) => host.files.has(each))) read.set(name, await readFrom(name));
    const { pieces } = parseWeightsIndex(new TextDecoder().decode(read.get("weights.json")));
    for (const { path, sha256 } of pieces) {
      const stored = await readFrom(path).catch((error: unknown) => {
        if (!(error instanceof LoadError && error.code === "corrupt")) throw error;
        return bytes(0, 0);
      });
      read.set(path, hash(stored) === sha256 ? stored : await readFrom(path, true));
    }
    await source?.notStored();
    return read;
  } catch (error) {
    if (attempts === 1 || source?.another() !== "again") throw error;
    return load(host, attempts - 1);
  }
}

/** Changes the bytes of a file, or renames it; "" removes it. */
type Change = ((old: Uint8Array) => Uint8Array) | string;
const encoded = (text: string) => new TextEncoder().encode(text);
const flipped = (at: number) => (old: Uint8Array) =>
  old.map((byte, i) => byte ^ (i === at % old.length ? 1 : 0));
const cut = (at: number) => (old: Uint8Array) => old.slice(0, at % (old.length + 1));
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.nat(900).map(flipped),
  fc.nat(900).map(cut),
  fc.string({ maxLength: 9 }).map((more) => (old: Uint8Array) => new Uint8Array([...old, ...encoded(more)])),
  fc.oneof(recordText, fc.json(), fc.string()).map((text) => () => encoded(text)),
  fc.oneof(fc.string({ unit: "binary", maxLength: 9 }), rightHashes),
);
const damage = fc.record({
  folder: fc.constantFrom("blobs" as const, "models" as const, "kept" as const, "changed" as const),
  /** The number of a file of the folder, modulo the number of files. */
  number: fc.nat(9),
  change,
  modified: fc.option(fc.constantFrom(0, -1e12, 1e13, 8.64e15)),
});
type Damage = typeof damage extends fc.Arbitrary<infer Value> ? Value : never;

async function makeDamage(disk: FakeDisk, { folder, number, change: made, modified }: Damage): Promise<void> {
  const stored = (await disk.folder(folder)).files;
  const [name = "", found] = [...stored][number % stored.size] ?? [];
  if (!found) return;
  found.modified = modified ?? found.modified;
  if (typeof made === "function") found.bytes = new Uint8Array(made(found.bytes));
  else stored.delete(name);
  if (typeof made === "string" && made !== "") stored.set(made, found);
}

async function checkListed(disk: FakeDisk): Promise<void> {
  const blobs = [...(await disk.folder("blobs")).files.values()];
  const stored = blobs.reduce((sum, { bytes: content }) => sum + content.length, 0);
  for (const model of (await unlessRefused(Gpt2Error, listModels)) ?? []) {
    if (!model.isComplete) continue;
    expect(model.bytes).toBe(model.totalBytes);
    expect(model.bytes).toBeLessThanOrEqual(stored);
  }
}

async function checkLoads(host: Host, when: string): Promise<void> {
  const read = await unlessRefused(Gpt2Error, () => load(host));
  expect(read, `the model does not load ${when}`).toBeDefined();
  for (const [name, content] of read ?? [])
    expect(hash(content), `${name} ${when}`).toBe(hash(host.files.get(name) ?? bytes(0, 0)));
}

const errorName = fc.constantFrom(
  ...["QuotaExceededError", "NotReadableError", "NoModificationAllowedError", "InvalidStateError"],
);

shortenPauses();
property(
  "a damaged or failing disk gives the right bytes, lists no incomplete model as complete, and forgets a removed model",
  fc.record({
    damages: fc.array(damage, { maxLength: 4 }),
    /** The operations of the file system that fail, counted from the first, each with its error. */
    faults: fc.array(fc.record({ at: fc.nat(120), name: errorName }), { maxLength: 2 }),
    quota: fc.constantFrom(Infinity, 0, 300, 900),
    act: fc.constantFrom("load", "remove", "keep"),
  }),
  async ({ damages, faults, quota, act }) => {
    const disk = new FakeDisk();
    vi.stubGlobal("navigator", disk.navigator);
    await load(makeHost());
    for (const each of damages) await makeDamage(disk, each);
    await checkListed(disk);
    let operations = 0;
    disk.quota = quota;
    disk.before = disk.beforeSync = () => {
      operations += 1;
      const fault = faults.find(({ at }) => at === operations);
      if (fault) throw new DOMException("fault", fault.name);
    };
    await unlessRefused(Gpt2Error, storage);
    await unlessRefused(Gpt2Error, listModels);
    if (act === "remove") await unlessRefused(Gpt2Error, () => removeModel(id));
    if (act === "keep") await unlessRefused(Gpt2Error, () => keepModel(id));
    const host = makeHost();
    await checkLoads(host, "while the disk fails");
    disk.before = disk.beforeSync = () => {};
    disk.quota = Infinity;
    await checkLoads(host, "once the disk works again");
    await checkListed(disk);
    host.isDown = true;
    await checkLoads(host, "from the disk alone");
    await removeModel(id);
    expect((await listModels()).map((model) => model.id)).not.toContain(id);
  },
  {
    runs: 60,
    examples: [
      // A read that failed left its file open, so that the model could not be removed.
      { damages: [], faults: [{ at: 19, name: "QuotaExceededError" }], quota: Infinity, act: "load" },
      // Making room failed, and its rejection was unhandled.
      { damages: [], faults: [{ at: 110, name: "QuotaExceededError" }], quota: 0, act: "remove" },
    ],
  },
);
