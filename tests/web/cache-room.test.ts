// Room for stored models, and the cache API of pages. stored-parts.test.ts tests which models are removed for others.
import { expect, it } from "vitest";
import { markLoading, withStoreLock } from "../../web/src/model/store/locks.js";
import { evictOne } from "../../web/src/model/store/models.js";
import { digestOf } from "../../web/src/model/store/records.js";
import { RoomyStore } from "../../web/src/model/store/roomy-store.js";
import { writeFile } from "../../web/src/model/store/store.js";
import { keepModel, listModels, removeModel, storage } from "../../web/src/client/on-demand.js";
import { Gpt2Error } from "../../web/src/shared/errors.js";
import { bytes, hash, Host, id } from "./support/model-host.js";
import { disk, isRight, listed, load, storeFor, useDisk } from "./support/stored-models.js";

useDisk();

it("a full disk leaves stored models listed, loadable and removable, and marks none as kept", async () => {
  const host = new Host();
  await load(host);
  disk.quota = 0;
  host.isDown = true;
  expect(await listModels()).toEqual([expect.objectContaining({ id, isComplete: true })]);
  expect((await load(host)).origins).toEqual(["cache", "cache"]);
  expect(await listModels()).toEqual([expect.objectContaining({ id, isComplete: true })]);
  expect(await storage()).toMatchObject({ kind: "opfs", notice: null });
  const refused = await keepModel(id).catch((error: unknown) => error);
  expect([refused instanceof Gpt2Error, (refused as Gpt2Error).code]).toEqual([true, "storage"]);
  expect(await removeModel(id)).toBe(true);
  expect(disk.used()).toBe(0);
});

const others = ["http://host/a/", "http://host/b/", "http://host/c/"];
const fill = async () => {
  for (const [place, of] of others.entries()) await load(new Host([bytes(1000, place + 5)]), { of });
  // Chromium always reports a quota of 10 GiB more than the used space.
  disk.navigator.storage.estimate = async () => ({ quota: disk.used() + 1e10, usage: disk.used() });
  disk.quota = disk.used() + 100;
};

it.each([
  ["throws", false],
  ["returns its error as a number of bytes", true],
])("a full disk removes the oldest model that is not kept: writing %s", async (_, returnsErrors) => {
  await fill();
  disk.returnsErrors = returnsErrors;
  expect(await keepModel(others[0] ?? "")).toBe(true);
  const host = new Host([bytes(900, 20)]);
  const first = await load(host);
  expect(first.notStored).toBeNull();
  expect(await listed()).toEqual([others[0], others[2], id]);
  host.isDown = true;
  expect(isRight(await load(host), host)).toBe(true);
});

it("a full disk removes one model, not two, for two files that fit in its place", async () => {
  await fill();
  const stop = await markLoading(await digestOf(id)); // its files are on no list yet
  const store = new RoomyStore(await storeFor(), id, withStoreLock);
  const write = async (content: Uint8Array) => writeFile(store, "blobs", hash(content), content);
  await Promise.all([write(bytes(450, 20)), write(bytes(450, 21))]);
  expect(await listed()).toEqual(others.slice(1));
  stop();
});

it("a full disk removes no model if all of them together would not free enough", async () => {
  await fill();
  for (const other of others) await keepModel(other);
  const host = new Host([bytes(900, 20), bytes(5000, 21)]);
  const loaded = await load(host);
  expect(isRight(loaded, host)).toBe(true);
  expect(loaded.notStored).toBe("the browser gives this site no more storage");
  expect((await listModels()).filter(({ isComplete }) => isComplete)).toHaveLength(3);
});

it("if the small files exceed the room, that is noticed before a piece is read", async () => {
  const host = new Host();
  host.files.set("merges.txt", bytes(5000, 3));
  disk.quota = 6500; // the pieces take 1700
  expect((await load(host)).notStored).toMatch(
    /^it needs \d kB more, but the browser has only \d kB left for this site$/,
  );
});

it("the cache API of pages lists, keeps and removes models by their addresses, also relative ones", async () => {
  await load(new Host());
  expect(await listModels()).toEqual([
    expect.objectContaining({ id, isComplete: true, isKept: false, used: expect.any(Date) }),
  ]);
  const [model] = await listModels();
  expect(model?.bytes).toBe(model?.totalBytes); // also where two of its files are equal, and stored once
  expect(await keepModel("m")).toBe(true);
  expect((await listModels())[0]?.isKept).toBe(true);
  expect(await keepModel("m", false)).toBe(false);
  expect((await listModels())[0]?.isKept).toBe(false);
  expect(await keepModel("nowhere")).toBe(false);
  expect(await removeModel("nowhere")).toBe(false);
  expect(await removeModel("m/?sign=2")).toBe(true);
  expect(await listModels()).toEqual([]);
  expect(disk.used()).toBe(0);
});

it("room for a text comes from unneeded files, then from one model, but none that is kept or being loaded", async () => {
  for (const of of ["loading", "kept", "older", "newest"]) await load(new Host(), { of });
  await keepModel("kept");
  const loaded = await markLoading(await digestOf("loading"));
  const ids = async () => (await listModels()).map((model) => model.id);
  await writeFile(await storeFor(), "blobs", "unneeded", bytes(9, 9));
  const file = (await disk.folder("blobs")).files.get("unneeded");
  if (file) file.modified = 0;
  expect(await evictOne()).toBe(true);
  expect(await ids()).toEqual(["newest", "older", "kept", "loading"]);
  expect(await evictOne()).toBe(true);
  expect(await ids()).toEqual(["newest", "kept", "loading"]);
  expect([await evictOne(), await evictOne()]).toEqual([true, false]);
  expect(await ids()).toEqual(["kept", "loading"]);
  loaded();
});

it("the cache API of pages reports what is stored, and how much room there is", async () => {
  await load(new Host());
  disk.quota = 1e6;
  const { modelBytes, usage, ...rest } = await storage();
  expect(rest).toMatchObject({ kind: "opfs", quota: 1e6, persisted: false, notice: null });
  expect(modelBytes).toBeGreaterThan(1700);
  expect(usage).toBeGreaterThan(modelBytes);
});
