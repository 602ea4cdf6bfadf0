// Any content of the store of models, and any failure in it.
import * as fc from "fast-check";
import { expect, vi } from "vitest";
import { CachedSource } from "../../../web/src/model/store/cached-source.js";
import { keepModel, listModels, removeModel, storage } from "../../../web/src/model/store/models.js";
import { openStoreFor } from "../../../web/src/model/store/open-store.js";
import { OpfsStore } from "../../../web/src/model/store/opfs-store.js";
import { digestOf, readRecords, writeRecord } from "../../../web/src/model/store/records.js";
import { bytesOf } from "../../../web/src/model/store/store.js";
import { Gpt2Error, LoadError } from "../../../web/src/shared/errors.js";
import { problemOfFileName } from "../../../web/src/shared/file-names.mjs";
import { FakeDisk } from "../support/fake-opfs.js";
import { bytes, hash, Host, id, revalidationBy, small } from "../support/model-host.js";
import { newDisk, put } from "../support/stored-models.js";
import { damagedOf } from "./any-text.js";
import { property, shortenPauses, unlessRefused } from "./property.js";

const signal = new AbortController().signal;
const contents = [bytes(40, 1), bytes(30, 2)];
const makeHost = () => new Host(contents);

const zeros = "0".repeat(64);
const minusZero = `"files":[{"path":"a","size":-0,"sha256":"${zeros}"}],"missing":[],"pieces":[]`;
const fileOf = (path: string, content: Uint8Array) => ({ path, size: content.length, sha256: hash(content) });
const record = {
  ...{
    id,
    weights: "q8",
    version: "v",
    files: [fileOf("config.json", bytes(2, 0))],
    missing: ["vocab.json"],
  },
  ...{ pieces: contents.map((content, i) => fileOf(`w.00${i}`, content)), weightBytes: 90, loading: true },
};
const odd = fc.oneof(
  fc.constantFrom<unknown>(undefined, null, false, "", "x", "q4", "../x", "https://a/b", "__proto__", zeros),
  fc.constantFrom<unknown>(3, 0, -1, 1.5, 2 ** 53, 1e300, [], {}, [3], "A".repeat(64), "http://other/"),
);
/** Whether a record's file has the hash that belongs to it, another one, or none as older releases wrote it. */
type Sum = "right" | "none" | "wrong";
const sums: readonly Sum[] = ["right", "right", "none", "none", "wrong"];

property(
  "a record's file gives nothing, or one record that names files of its folder and can be written and read again",
  fc.record({
    text: damagedOf(fc.constant(record), odd).map(({ value }) => JSON.stringify(value)),
    sum: fc.constantFrom(...sums),
  }),
  async ({ text, sum }) => {
    newDisk();
    const store = await OpfsStore.open();
    const format = /"weights":"(q8|q4|f32)"/.exec(text)?.[1] ?? "as-is";
    const digest = await digestOf(sum === "right" ? text : `${text} `);
    const line = sum === "none" ? text : text.replace(/\}$/, `,"sha256":"${digest}"}`);
    await put("models", `${await digestOf(id)}-${format}-0123456789abcdef`, `${line}\n`);
    const [found] = await readRecords(store, id);
    if (sum === "wrong" || text === JSON.stringify(record)) expect(found === undefined).toBe(sum === "wrong");
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
    for (const [place, content] of contents.entries()) {
      const name = `w.00${place}`;
      const stored = await readFrom(name).catch((error: unknown) => {
        if (!(error instanceof LoadError && error.code === "corrupt")) throw error;
      });
      const isRight = stored && hash(stored) === hash(content);
      read.set(name, isRight ? stored : await readFrom(name, true));
    }
    await source?.notStored();
    return read;
  } catch (error) {
    if (attempts === 1 || source?.another() !== "again") throw error;
    return load(host, attempts - 1);
  }
}

const at = fc.nat(900);
/** Changes to the bytes of a file; one without bytes removes it. */
const change = fc.oneof(
  at.map((place) => (old: Uint8Array) => old.map((byte, i) => byte ^ (i === place % old.length ? 1 : 0))),
  at.map((place) => (old: Uint8Array) => old.slice(0, place % (old.length + 1))),
  fc.json().map((text) => () => new TextEncoder().encode(text)),
  fc.constant(() => undefined),
);
const damage = fc.record({
  folder: fc.constantFrom("blobs" as const, "models" as const, "kept" as const, "changed" as const),
  /** The number of a file of the folder, modulo the number of files. */
  number: fc.nat(9),
  change,
  modified: fc.option(fc.constantFrom(0, -1e12, 1e13, 8.64e15)),
});

const faults = ["QuotaExceeded", "NotReadable", "NoModificationAllowed", "InvalidState"].map(
  (name) => `${name}Error`,
);

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

shortenPauses();
property(
  "a damaged or failing disk gives the right bytes, lists no incomplete model as complete, and forgets a removed model",
  fc.record({
    damages: fc.array(damage, { maxLength: 4 }),
    /** The operations of the file system that fail, counted from the first, each with its error. */
    faults: fc.array(fc.record({ at: fc.nat(120), name: fc.constantFrom(...faults) }), { maxLength: 2 }),
    quota: fc.constantFrom(Infinity, 0, 300, 900),
    act: fc.constantFrom("load", "remove", "keep"),
  }),
  async ({ damages, faults: failing, quota, act }) => {
    const disk = new FakeDisk();
    vi.stubGlobal("navigator", disk.navigator);
    await load(makeHost());
    for (const { folder, number, change: changed, modified } of damages) {
      const { files } = await disk.folder(folder);
      const [name = "", file] = [...files][number % files.size] ?? [];
      if (!file) continue;
      const content = changed(file.bytes);
      if (!content) files.delete(name);
      Object.assign(file, { bytes: content, modified: modified ?? file.modified });
    }
    await checkListed(disk);
    let operations = 0;
    disk.quota = quota;
    disk.before = disk.beforeSync = () => {
      operations += 1;
      const fault = failing.find((each) => each.at === operations);
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
