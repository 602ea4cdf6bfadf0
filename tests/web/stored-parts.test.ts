// The removal of stored files, the check of records, and a piece that is stored while it downloads.
import { createHash } from "node:crypto";
import { beforeEach, expect, it, vi } from "vitest";
import { digestOf, readRecords, storedBytes, writeRecord } from "../../web/src/model/store/records.js";
import { markLoading, withStoreLock } from "../../web/src/model/store/locks.js";
import { makeRoom, removeRecord, removeUnneededFiles } from "../../web/src/model/store/room.js";
import { RoomyStore } from "../../web/src/model/store/roomy-store.js";
import { openPiece, readStored } from "../../web/src/model/store/stored-piece.js";
import { OpfsStore } from "../../web/src/model/store/opfs-store.js";
import { bytesOf } from "../../web/src/model/store/store.js";
import { MemorySource } from "./support/memory-source.js";
import { blobNames, disk, filesIn, put, useDisk } from "./support/stored-models.js";

const hour = 3_600_000;
const hash = (text: string) => createHash("sha256").update(text).digest("hex");
const piece = (path: string, size: number) => ({ path, size, sha256: hash(path) });
let store: OpfsStore;
const room = (quota?: number, usage?: number) =>
  Object.assign(disk.navigator.storage, { estimate: async () => ({ quota, usage }) });

useDisk();
beforeEach(async () => {
  vi.useFakeTimers({ now: 100 * hour, toFake: ["Date"] });
  disk.now = Date.now();
  store = await OpfsStore.open();
  room(1000, 1000);
});

/** A stored model with two files: its own of `size` bytes, and one that all models share. */
async function addModel(id: string, size: number, usedHoursAgo = 0) {
  disk.now = Date.now() - usedHoursAgo * hour;
  const shared = piece("shared", 10);
  await writeRecord(store, { id, files: [shared], missing: [], pieces: [piece(id, size)] });
  await put("blobs", hash(id), size, Date.now() - 50 * hour);
  await put("blobs", hash("shared"), 10, Date.now() - 50 * hour);
  disk.now = Date.now();
}
const stored = async () => (await blobNames()).sort();

it("room is first made by removing files without a record, unless they may be needed", async () => {
  await addModel("a", 100);
  await put("changed", "probe 0.5", 0); // another tab has ended while it looked for a store
  await put("blobs", "old", 7, Date.now() - hour);
  await put("blobs", "young", 5, Date.now() - hour + 1);
  await put("blobs", "young but named", 3);
  await put("blobs", "busy", 100, 0);
  const busy = Object.assign((await filesIn("blobs")).get("busy") ?? {}, { isOpen: true });
  const stop = await markLoading("another tab's");
  expect(await removeUnneededFiles(store, ["young but named", hash("a")])).toBe(10);
  expect(await stored()).toEqual([hash("a"), hash("shared"), "busy", "young"].sort());
  busy.isOpen = false;
  expect(await removeUnneededFiles(store)).toBe(100);
  stop();
  expect(await removeUnneededFiles(store)).toBe(5);
  expect((await filesIn("changed")).size).toBe(0);
});

it("the room of a model counts the files that no other model needs", async () => {
  await addModel("a", 100);
  await addModel("b", 200);
  const [a] = (await readRecords(store)).filter(({ id }) => id === "a");
  if (!a) throw new Error("a was not recorded");
  await put("changed", a.key, 0);
  expect(await removeRecord(store, a)).toBe(100);
  expect(await stored()).toEqual([hash("b"), hash("shared")].sort());
  expect((await readRecords(store)).map(({ id }) => id)).toEqual(["b"]);
  expect((await filesIn("changed")).size).toBe(0);
});

it("room is then made by removing the least recently used models that are neither kept nor needed", async () => {
  await addModel("kept", 500, 9);
  await addModel("oldest", 100, 5);
  await addModel("old", 100, 4);
  await addModel("new", 100, 3);
  await addModel("wanted", 100, 8);
  await put("kept", await digestOf("kept"), 0);
  expect(await makeRoom(store, 150, "wanted")).toBeNull();
  expect((await readRecords(store)).map(({ id }) => id).sort()).toEqual(["kept", "new", "wanted"]);
  expect(await makeRoom(store, 2000, "wanted")).toBe(
    "it needs 2 kB more, but the browser has only 0 kB left for this site",
  );
  // No model is removed in vain.
  expect((await readRecords(store)).map(({ id }) => id).sort()).toEqual(["kept", "new", "wanted"]);
});

it("no room is made if there is enough or the browser reports none, with a margin of a hundredth", async () => {
  await addModel("a", 100, 5);
  room(1101, 1000);
  expect(await makeRoom(store, 100, "b")).toBeNull();
  for (const unknown of [[undefined, 5], [5]]) {
    room(...unknown);
    expect(await makeRoom(store, 1e9, "b")).toBeNull();
  }
  vi.stubGlobal("navigator", {});
  expect(await makeRoom(store, 1e9, "b")).toBeNull();
  expect(await readRecords(store)).toHaveLength(1);
  vi.stubGlobal("navigator", disk.navigator);
  room(1100, 1000);
  expect(await makeRoom(store, 100, "b")).toBeNull();
  expect(await readRecords(store)).toHaveLength(0);
  room(4_000_000, 1_000_000);
  expect(await makeRoom(store, 3_000_000, "b")).toBe(
    "it needs 3.0 MB more, but the browser has only 3.0 MB left for this site",
  );
  await put("blobs", "old", 40_000, 0);
  expect(await makeRoom(store, 3_000_000, "b")).toBeNull(); // sweeping was enough
});

it("records are distinguished by model, format and weights.json, and sorted by last use", async () => {
  const common = { id: "a", files: [], missing: [], pieces: [] };
  const plain = { ...common, files: [piece("weights.json", 5)], missing: ["x"] };
  const quantized = { ...common, weights: "q4" as const, version: "v" };
  const keys: string[] = [];
  for (const record of [plain, quantized, { ...common, id: "b" }])
    keys.push(await writeRecord(store, record)); // each write turns the clock of the disk
  const [a, b] = [hash("a"), hash("b")];
  const expected = [`${a}-as-is-${hash("weights.json").slice(0, 16)}`, `${a}-q4-`, `${b}-as-is-`];
  expect(keys).toEqual(expected);
  expect((await readRecords(store)).map(({ key }) => key)).toEqual(expected.reverse());
  expect(await readRecords(store, "a")).toEqual([
    { ...quantized, key: keys[1], used: disk.now - 2 },
    { ...plain, key: keys[0], used: disk.now - 3 },
  ]);
});

it.each([
  ["without an id", { id: undefined }],
  ["without what is missing", { missing: undefined }],
  ["without files", { files: undefined }],
  ["without pieces", { pieces: undefined }],
  ["with a file without a path", { files: [{ size: 1, sha256: hash("") }] }],
  ["with a size that is none", { pieces: [{ ...piece("p", 1), size: 1.5 }] }],
  ["with a hash and more after it", { pieces: [{ ...piece("p", 1), sha256: `${hash("")}0` }] }],
  ["with a hash and more before it", { pieces: [{ ...piece("p", 1), sha256: `0${hash("")}` }] }],
])("damaged records, and records with the key of another model, are ignored: %s", async (_, damage) => {
  const whole = { id: "a", files: [], missing: [], pieces: [] };
  const key = await writeRecord(store, whole);
  expect(await readRecords(store)).toHaveLength(1);
  await put("models", key, JSON.stringify({ ...whole, ...damage }));
  expect(await readRecords(store)).toEqual([]);
  await put("models", key, "{");
  await put("models", `0000${key.slice(4)}`, JSON.stringify(whole));
  expect(await readRecords(store)).toEqual([]);
});

it("records state how much of a model is stored", async () => {
  const record = { id: "a", files: [piece("f", 5)], missing: [], pieces: [piece("p", 10), piece("p", 10)] };
  expect(await storedBytes(store, record)).toEqual({ bytes: 0, missing: 15, isWhole: false });
  await put("blobs", hash("p"), 10);
  await put("blobs", hash("f"), 3);
  expect(await storedBytes(store, record)).toEqual({ bytes: 13, missing: 2, isWhole: false });
  await put("blobs", hash("f"), 9); // longer than it may be
  expect(await storedBytes(store, record)).toEqual({ bytes: 15, missing: 0, isWhole: false });
  await put("blobs", hash("f"), 5);
  expect(await storedBytes(store, record)).toEqual({ bytes: 15, missing: 0, isWhole: true });
});

const content = Uint8Array.from({ length: 40 }, (_, i) => i);
const wanted = piece("p", content.length);
const { signal } = new AbortController();
const onRefusal = vi.fn();

/** Reads the piece from the byte `from` on. The host has `given`. */
async function read(given: Uint8Array | Error, from = 0) {
  const source = new MemorySource({ p: given });
  const onStored = vi.fn();
  const { stream } = await openPiece(store, source, wanted, { signal, from, onRefusal, onStored });
  const bytes = [...(await bytesOf(stream))];
  return { bytes, fetchedFrom: source.placesOf("p"), isStored: onStored.mock.calls.length > 0 };
}

it.each([
  [25, 0, 25],
  [25, 10, 25],
  [25, 25, 25],
  [25, 30, 30],
  [40 + 1, 0, 0],
  [0, 0, 0],
])("a piece with %i stored bytes, wanted from %i on, is fetched from %i on", async (found, from, place) => {
  const bytes = Uint8Array.from({ length: found }, (_, i) => i);
  await put("blobs", wanted.sha256, bytes);
  const isStored = from <= found;
  const expected = { bytes: [...content.slice(from)], fetchedFrom: [place], isStored };
  expect(await read(content, from)).toEqual(expected);
  if (isStored) expect((await filesIn("blobs")).get(wanted.sha256)?.bytes).toEqual(content);
});

it("a piece of the wrong length is passed on unchanged and counts as incomplete", async () => {
  for (const given of [content.slice(0, 30), Uint8Array.from([...content, 1, 2])]) {
    await store.remove("blobs", wanted.sha256);
    expect(await read(given)).toEqual({ bytes: [...given], fetchedFrom: [0], isStored: false });
    expect(await readStored(store, wanted)).toBeUndefined();
    expect(await store.size("blobs", wanted.sha256)).toBe(given.length < 40 ? 30 : 0);
  }
});

it.each(["append", "write", "close"])(
  "if the store refuses to %s, the bytes arrive, and it says so once",
  async (call) => {
    const reason = new DOMException("", "QuotaExceededError");
    const refuse = async () => Promise.reject(reason);
    const append = store.append.bind(store);
    store.append = async (...place) =>
      call === "append" ? refuse() : { ...(await append(...place)), [call]: refuse };
    onRefusal.mockClear();
    expect(await read(content)).toEqual({ bytes: [...content], fetchedFrom: [0], isStored: false });
    expect(onRefusal.mock.calls).toEqual([[reason]]);
    await read(content); // others may write
  },
);

it("another tab may write a piece that cannot be opened or is no longer needed", async () => {
  await expect(read(new Error("down"))).rejects.toThrow("down");
  const source = new MemorySource({ p: content });
  const file = await openPiece(store, source, wanted, { signal, onRefusal, onStored: onRefusal });
  await file.stream.cancel("enough");
  expect(await read(content)).toMatchObject({ bytes: [...content], isStored: true });
});

it("a full disk costs no second model if removing a large one did not help", async () => {
  for (const [place, of] of ["a", "b", "c"].entries()) await addModel(of, 20_000_000, 9 - place);
  const full = new DOMException("", "QuotaExceededError");
  vi.spyOn(store, "append").mockRejectedValue(full);
  const roomy = new RoomyStore(store, "wanted", withStoreLock);
  await expect(roomy.append("blobs", "x", 0)).rejects.toBe(full);
  expect(await readRecords(store)).toHaveLength(2);
});
