// Storage that is broken, silent or changed by others: a load continues, and the list of models stays correct.
import { expect, it, vi } from "vitest";
import { loadsUnderWay } from "../../web/src/model/store/locks.js";
import { listModels, removeModel, storage } from "../../web/src/model/store/models.js";
import { openStore, openStoreFor } from "../../web/src/model/store/open-store.js";
import { CachedSource } from "../../web/src/model/store/cached-source.js";
import { bytesOf } from "../../web/src/model/store/store.js";
import { FakeCaches } from "./support/fake-caches.js";
import { FakeDisk } from "./support/fake-opfs.js";
import { bytes, hash, Host, id, loadFrom } from "./support/model-host.js";
import {
  begin,
  blobNames,
  disk,
  isRight,
  listed,
  load,
  newDisk,
  record,
  settled,
  stopClock,
  storeFor,
  useDisk,
} from "./support/stored-models.js";

const signal = new AbortController().signal;
useDisk();

const silent = "the browser's storage has not answered for 15 s";
const broken = "NotReadableError";
const full = "the browser gives this site no more storage";
const incomplete = "a part of it was removed during loading"; // a file that both models have
const stored = "null";
const [removed, none, refused] = ["true", "false", "Gpt2Error: stored models cannot be changed: "];
const faults = {
  "is silent": () => new Promise<void>(() => {}),
  fails: () => {
    throw new DOMException("The file could not be read", broken);
  },
  "finds no room": () => {
    throw new DOMException("", "QuotaExceededError");
  },
};

/**
 * An operation, its fault, and what follows. Where does a stored model come from, and why is it not stored again? Why is a new
 * model not stored? What does removing the stored model give? A new model may have taken its place.
 */
it.each<[string, keyof typeof faults, string, string, string, string]>([
  ["root", "is silent", "network", silent, silent, none],
  ["root", "fails", "network", broken, broken, none],
  ["folder", "is silent", "network", silent, silent, none],
  ["folder", "fails", "network", broken, broken, none],
  ["folder", "finds no room", "network", full, full, none],
  ["file", "is silent", "network", silent, silent, none],
  ["file", "fails", "network", broken, broken, none],
  ["file", "finds no room", "network", full, full, none],
  ["getFile", "is silent", "network", silent, silent, refused],
  ["getFile", "fails", "network", broken, broken, removed],
  ["getFile of a blob", "is silent", "network", silent, silent, refused],
  ["getFile of a blob", "fails", "network", broken, incomplete, removed],
  ["open", "is silent", "network", silent, silent, none],
  ["open", "fails", "cache", broken, broken, removed],
  ["open of a blob", "is silent", "network", silent, silent, removed],
  ["open of a blob", "fails", "cache", stored, broken, removed],
  ["read", "fails", "network", stored, stored, none],
  ["read of a blob", "fails", "network", stored, stored, removed],
  ["write", "fails", "cache", broken, broken, removed],
  ["write", "finds no room", "cache", full, full, none],
  ["truncate", "fails", "cache", stored, broken, removed],
  ["truncate", "finds no room", "cache", stored, full, none],
  ["list", "is silent", "network", silent, silent, refused],
  ["list", "fails", "cache", broken, broken, refused],
  ["remove", "is silent", "cache", stored, silent, refused],
  ["remove", "fails", "cache", stored, stored, refused],
])("if %s %s, models still load", async (operation, fault, origin, reason, reasonOfNew, removal) => {
  const host = new Host();
  await load(host);
  const [action = "", of] = operation.split(" ", 2);
  const blobs = new Set(await blobNames());
  if (fault === "is silent") stopClock();
  const spoil = (done: string) => {
    const [what, name = ""] = done.split(" ");
    return what === action && (!of || blobs.has(name)) ? faults[fault]() : undefined;
  };
  disk.before = spoil;
  disk.beforeSync = (done) => void spoil(done);
  const inTime = fault === "is silent" ? settled : <T>(promise: Promise<T>) => promise;

  const other = new Host([bytes(900, 8)]);
  const loadAnyway = async (from: Host, as: string) => {
    const { store, refusal } = await openStoreFor(as);
    if (store) return loadFrom(store, from, { of: as });
    return { read: from.files, origins: ["network"], notStored: refusal };
  };
  const first = await inTime(loadAnyway(host, id));
  expect([isRight(first, host), new Set(first.origins)]).toEqual([true, new Set([origin])]);
  expect(String(first.notStored)).toContain(reason);
  const second = await inTime(loadAnyway(other, "http://host/other/"));
  expect(isRight(second, other)).toBe(true);
  expect(String(second.notStored)).toContain(reasonOfNew);
  await inTime(Promise.all([listModels(), storage()]));
  expect(String(await inTime(removeModel(id).catch((error: unknown) => error)))).toContain(removal);

  disk.before = disk.beforeSync = () => {};
  expect(isRight(await inTime(load(host)), host)).toBe(true);
  for (const model of await listed()) expect(await removeModel(model)).toBe(true); // no handle is left open
  expect(disk.used()).toBe(0);
});

it("a model whose stored files are deleted during the load comes from the network", async () => {
  const host = new Host();
  await load(host);
  const source = await begin(host);
  (await disk.folder("blobs")).files.clear();
  for (const [name, content] of host.files) {
    expect(hash(await bytesOf((await source.open(name, { signal })).stream)), name).toBe(hash(content));
  }
  await source.notStored();
  host.isDown = true;
  expect(isRight(await load(host), host)).toBe(true);
});

it("a load continues, and waits only once for a lock that another tab never returns", async () => {
  const { locks } = disk.navigator;
  void locks.request("gpt2-wasm store", () => new Promise(() => {}));
  const request = vi.spyOn(locks, "request");
  const host = new Host();
  stopClock();
  const loaded = await settled(load(host));
  expect(isRight(loaded, host)).toBe(true);
  expect(loaded.notStored).not.toBeNull();
  const asked = request.mock.calls.filter(([name]) => name === "gpt2-wasm store");
  // For the first change, and for the room if that is needed before the first wait has ended.
  expect([1, 2]).toContain(asked.length);
});

it("a model that is removed while it is loaded leaves nothing, and the load says so", async () => {
  const host = new Host();
  const source = await begin(host);
  await source.open("config.json", { signal });
  const first = await source.open("w.000", { signal });
  const reader = first.stream.getReader();
  await reader.read();
  await vi.waitFor(async () => expect(await listed()).toEqual([id]));
  expect(await removeModel(id)).toBe(true);
  while (!(await reader.read()).done);
  await bytesOf((await source.open("w.001", { signal })).stream);
  expect(await source.notStored()).toBe("it was removed during loading");
  expect(await listed()).toEqual([]);
  expect(await blobNames()).toEqual([]);
  expect((await load(host)).notStored).toBeNull(); // and it can be stored again
  const fromStore = await begin(host);
  await removeModel(id);
  const { stream } = await fromStore.open("w.001", { signal });
  expect(hash(await bytesOf(stream))).toBe(hash(bytes(700, 2)));
  await fromStore.notStored();
  expect([await blobNames(), await listed()]).toEqual([[], []]);
});

const loads = async () => (await loadsUnderWay())?.size;

it("the mark ends with a load that is aborted before the mark is set", async () => {
  const controller = new AbortController();
  const source = new CachedSource(await storeFor(), new Host(), id, undefined);
  const opening = source.open("config.json", { signal: controller.signal });
  controller.abort(new Error("enough"));
  await expect(opening).rejects.toThrow("enough");
  await vi.waitFor(async () => expect(await loads()).toBe(0));
});

it("the mark ends at once if the browser sets it only after the load", async () => {
  const { locks } = disk.navigator;
  const request = locks.request.bind(locks) as (...wanted: unknown[]) => Promise<unknown>;
  let grant: () => void = () => {};
  const late = new Promise<void>((resolve) => (grant = resolve));
  let marked: Promise<unknown> | undefined;
  vi.spyOn(locks, "request").mockImplementation((...wanted) => {
    const ask = () => request(...wanted);
    return wanted[0].startsWith("gpt2-wasm load") ? (marked = late.then(ask)) : ask();
  });
  const store = await storeFor();
  stopClock();
  const { notStored } = await settled(loadFrom(store, new Host()));
  expect(notStored).toContain("has not answered");
  grant();
  await marked; // settles when the mark is released
  expect(await loads()).toBe(0);
});

it("unused files stay while a record cannot be read", async () => {
  const host = new Host();
  await load(host);
  const names = await blobNames();
  const [key = ""] = (await disk.folder("models")).files.keys();
  disk.before = (operation) => {
    if (operation.endsWith(key) && /^(getFile|open)/.test(operation))
      throw new DOMException("", "NotReadableError");
  };
  await removeModel("http://host/none/");
  await load(new Host([bytes(50, 3)]), { of: "http://host/other/" });
  disk.before = () => {};
  expect(await blobNames()).toEqual(expect.arrayContaining(names));
  host.isDown = true;
  expect(isRight(await load(host), host)).toBe(true);
});

it("a record with one changed bit lists neither another model nor wrong bytes", async () => {
  const host = new Host([bytes(30, 1)]);
  await load(host);
  const file = await record();
  const right = file.bytes;
  for (let place = 0; place < right.length; place += 1) {
    file.bytes = right.map((byte, at) => (at === place ? byte ^ (1 << (place % 8)) : byte));
    for (const model of await listModels()) expect(model.id, `byte ${place}`).toBe(id);
  }
  file.bytes = right.map((byte, at) => (at === 40 ? byte ^ 1 : byte));
  expect(isRight(await load(host), host)).toBe(true);
});

it("a record whose rewriting was interrupted still exists", async () => {
  const host = new Host();
  await load(host);
  const [name] = (await disk.folder("models")).files.keys();
  disk.beforeSync = (operation) => {
    if (operation === `write ${name}`) throw new Error("the tab ends here");
  };
  await load(host);
  disk.beforeSync = () => {};
  host.isDown = true;
  expect(isRight(await load(host), host)).toBe(true);
});

it("a tab that ends at any step leaves no incomplete model that is listed as complete", async () => {
  for (let steps = 5; ; steps += 7) {
    newDisk();
    const host = new Host();
    let left = steps;
    const step = () => {
      left -= 1;
      if (left < 0) throw new Error("the tab has ended");
    };
    disk.before = disk.beforeSync = step;
    await load(host).catch(() => {});
    disk.before = disk.beforeSync = () => {};
    // The browser releases the locks of the tab.
    Object.assign(disk.navigator, { locks: new FakeDisk().navigator.locks });
    for (const name of ["blobs", "models", "changed"]) {
      const { files } = await disk.folder(name);
      for (const file of files.values()) Object.assign(file, { isOpen: false, readers: 0 });
    }
    const [model] = await listModels();
    if (model?.isComplete) {
      host.isDown = true;
      expect(isRight(await load(host), host), `${steps} steps`).toBe(true);
      host.isDown = false;
    }
    expect(isRight(await load(host), host)).toBe(true);
    expect(await removeModel(id)).toBe(true);
    expect(disk.used(), `${steps} steps`).toBe(0);
    if (left > 0 || steps > 2000) break;
  }
});

const refuse = () => Promise.reject(new DOMException("no", "SecurityError"));

it("both stores are searched: a model in Cache Storage is found when the file system works again", async () => {
  vi.stubGlobal("caches", new FakeCaches());
  const { getDirectory } = disk.navigator.storage;
  disk.navigator.storage.getDirectory = refuse;
  const host = new Host();
  await load(host);
  expect(await storage()).toMatchObject({ kind: "cache-storage", notice: null });
  disk.navigator.storage.getDirectory = getDirectory;
  host.isDown = true;
  expect(isRight(await load(host), host)).toBe(true);
  host.isDown = false;
  await load(new Host(), { of: "http://host/other/" });
  expect(await listed()).toEqual([id, "http://host/other/"].sort());
  expect(await removeModel(id)).toBe(true);
  expect(await listed()).toEqual(["http://host/other/"]);
});

it("if both stores are refused, nothing is stored and nothing throws", async () => {
  vi.stubGlobal("caches", { open: refuse, has: refuse });
  disk.navigator.storage.getDirectory = refuse;
  expect(await listModels()).toEqual([]);
  expect(await removeModel(id)).toBe(false);
  expect((await openStore(true)).refusal).toContain("usual in private windows");
  expect((await storage()).notice).toContain("usual in private windows");
});
