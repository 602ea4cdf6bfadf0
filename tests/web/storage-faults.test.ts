// Storage that is full, broken, silent or changed by others: a load continues, and the list of models stays correct.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { NetworkPieces } from "../../web/src/loader/piece-source.js";
import { sha256 } from "../../web/src/loader/sha256.js";
import { CachedSource } from "../../web/src/cache/cached-source.js";
import { keepModel, listModels, removeModel, storage } from "../../web/src/cache/models.js";
import { loadsUnderWay, markLoading, withStoreLock } from "../../web/src/cache/locks.js";
import { openStore, openStoreFor } from "../../web/src/cache/open-store.js";
import { digestOf } from "../../web/src/cache/records.js";
import { RoomyStore } from "../../web/src/cache/roomy-store.js";
import { bytesOf, writeFile, type Store } from "../../web/src/cache/store.js";
import { Gpt2Error } from "../../web/src/shared/errors.js";
import { FakeCaches } from "./support/fake-caches.js";
import { FakeDisk } from "./support/fake-opfs.js";
import { revalidationBy, bytes, hash, Host, id, loadFrom, type LoadOptions } from "./support/model-host.js";

const toFake = ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"] as const;
/** Turns the clock until `promise` settles. */
async function settled<T>(promise: Promise<T>): Promise<T> {
  const state = { isOpen: true };
  const close = () => (state.isOpen = false);
  promise.then(close, close);
  while (state.isOpen) {
    await vi.advanceTimersByTimeAsync(500);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return promise;
}

const signal = new AbortController().signal;
let disk: FakeDisk;
beforeEach(() => {
  disk = new FakeDisk();
  vi.stubGlobal("navigator", disk.navigator);
  vi.stubGlobal("location", { href: "http://host/page.html" });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

async function storeFor(model: string): Promise<Store> {
  const opened = await openStoreFor(model);
  if (!opened.store) throw new Error(opened.refusal);
  return opened.store;
}
/** One load, as a worker starts it. */
const load = async (host: Host, options: LoadOptions = {}) =>
  loadFrom(await storeFor(options.of ?? id), host, options);
const listed = async () => (await listModels()).map((model) => model.id).sort();
const isRight = ({ read }: Awaited<ReturnType<typeof load>>, host: Host) =>
  [...host.files].every(([name, content]) => hash(read.get(name) ?? bytes(0, 0)) === hash(content));
const blobNames = async () => [...(await disk.folder("blobs")).files.keys()];

describe("a full disk", () => {
  it("a full disk leaves stored models listed, loadable without their host, and removable", async () => {
    const host = new Host();
    await load(host);
    disk.quota = 0;
    host.isDown = true;
    expect(await listModels()).toEqual([expect.objectContaining({ id, isComplete: true })]);
    expect((await load(host)).origins).toEqual(["cache", "cache"]);
    expect(await listModels()).toEqual([expect.objectContaining({ id, isComplete: true })]);
    expect(await storage()).toMatchObject({ kind: "opfs", notice: null });
    expect(await removeModel(id)).toBe(true);
    expect(disk.used()).toBe(0);
  });

  it("a model streams from the network on a full disk, and says why", async () => {
    disk.quota = 0;
    expect(await openStoreFor(id)).toEqual({
      store: undefined,
      refusal: "the browser gives this site no more storage",
    });
  });

  it("on a full disk, marking a model as kept throws a Gpt2Error", async () => {
    await load(new Host());
    disk.quota = 0;
    await expect(keepModel(id)).rejects.toSatisfy(
      (error) => error instanceof Gpt2Error && error.code === "storage",
    );
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
  ])(
    "a full disk removes the oldest model that is not marked as kept: writing %s",
    async (_, returnsErrors) => {
      await fill();
      disk.returnsErrors = returnsErrors;
      expect(await keepModel(others[0] ?? "")).toBe(true);
      const host = new Host([bytes(900, 20)]);
      const first = await load(host);
      expect(first.notStored).toBeNull();
      expect(await listed()).toEqual([others[0], others[2], id]);
      host.isDown = true;
      expect(isRight(await load(host), host)).toBe(true);
    },
  );

  it("a full disk removes one model, not two, for two files that fit in its place", async () => {
    await fill();
    const stop = await markLoading(await digestOf(id)); // its files are on no list yet
    const store = new RoomyStore(await storeFor(id), id, withStoreLock);
    const write = async (content: Uint8Array) => writeFile(store, "blobs", hash(content), content);
    await Promise.all([write(bytes(450, 20)), write(bytes(450, 21))]);
    expect(await listed()).toEqual(others.slice(1));
    stop();
  });

  it("a full disk never removes a model that another tab is loading", async () => {
    await fill();
    const stop = await markLoading(await digestOf(others[0] ?? ""));
    expect((await load(new Host([bytes(900, 20)]))).notStored).toBeNull();
    expect(await listed()).toEqual([others[0], others[2], id]);
    stop();
  });

  it("a full disk removes no model if all of them together would not free enough", async () => {
    await fill();
    for (const other of others) await keepModel(other);
    const host = new Host([bytes(900, 20), bytes(5000, 21)]);
    const { notStored, ...loaded } = await load(host);
    expect(isRight({ notStored, ...loaded }, host)).toBe(true);
    expect(notStored).toBe("the browser gives this site no more storage");
    expect((await listModels()).filter(({ isComplete }) => isComplete)).toHaveLength(3);
  });
});

describe("a model that is removed while it is loaded", () => {
  it("a model that is removed while it is loaded leaves nothing, and the load says so", async () => {
    const host = new Host();
    const store = await storeFor(id);
    const source = new CachedSource(store, host, id, revalidationBy(host));
    for (const name of ["config.json", "weights.json"]) {
      await bytesOf((await source.open(name, { signal })).stream);
    }
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
  });

  it("a model that is removed while it loads leaves nothing, also if it was read from the store", async () => {
    const host = new Host();
    await load(host);
    const source = new CachedSource(await storeFor(id), host, id, revalidationBy(host));
    await source.open("weights.json", { signal });
    await removeModel(id);
    const { stream } = await source.open("w.001", { signal });
    expect(hash(await bytesOf(stream))).toBe(hash(bytes(700, 2)));
    await source.notStored();
    expect(await blobNames()).toEqual([]);
    expect(await listed()).toEqual([]);
  });
});

describe("the mark of a model that is being loaded", () => {
  const loads = async () => (await loadsUnderWay())?.size;

  it("the mark ends with a load that is aborted before the mark is set", async () => {
    const controller = new AbortController();
    const source = new CachedSource(await storeFor(id), new Host(), id, undefined);
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
    const store = await storeFor(id);
    vi.useFakeTimers({ toFake: [...toFake] });
    const { notStored } = await settled(loadFrom(store, new Host()));
    expect(notStored).toContain("has not answered");
    grant();
    await marked; // settles when the mark is released
    expect(await loads()).toBe(0);
  });
});

describe("files without a model", () => {
  it("removing a model also removes unused files, unless a load may need them", async () => {
    await load(new Host());
    await (await disk.folder("blobs")).getFileHandle("orphan", { create: true });
    await (await disk.folder("changed")).getFileHandle("probe 0.5", { create: true });
    const stop = await markLoading("another");
    await removeModel(id);
    expect(await blobNames()).toEqual(["orphan"]);
    stop();
    await load(new Host());
    expect(await blobNames()).not.toContain("orphan");
    expect([...(await disk.folder("changed")).files.keys()]).toEqual([]);
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
});

describe("a stored model that cannot be read", () => {
  const unreadable = () => new DOMException("The file could not be read", "NotReadableError");

  it.each(["open", "read", "getFile"])(
    "a stored model that cannot be read comes from the network (%s)",
    async (what) => {
      const host = new Host();
      await load(host);
      const names = new Set(await blobNames());
      const fail = (operation: string) => {
        const [action, name = ""] = operation.split(" ");
        if (names.has(name) && (action === what || (what === "open" && action === "getFile")))
          throw unreadable();
      };
      disk.before = disk.beforeSync = fail;
      const loaded = await load(host);
      expect(isRight(loaded, host)).toBe(true);
      disk.before = disk.beforeSync = () => {};
      expect(isRight(await load(host), host)).toBe(true);
      expect(await removeModel(id)).toBe(true); // no handle is left open
      expect(disk.used()).toBe(0);
    },
  );

  it("a model whose stored files are deleted during the load comes from the network", async () => {
    const host = new Host();
    await load(host);
    const source = new CachedSource(await storeFor(id), host, id, revalidationBy(host));
    await source.open("weights.json", { signal });
    (await disk.folder("blobs")).files.clear();
    for (const [name, content] of host.files) {
      expect(hash(await bytesOf((await source.open(name, { signal })).stream)), name).toBe(hash(content));
    }
    await source.notStored();
    host.isDown = true;
    expect(isRight(await load(host), host)).toBe(true);
  });
});

describe("a file system that never answers", () => {
  const never = () => new Promise<void>(() => {});

  it.each(["root", "folder", "file", "getFile", "open", "list", "remove"])(
    "a file system that never answers delays no load: it continues without storing (%s)",
    async (what) => {
      const host = new Host();
      await load(host);
      vi.useFakeTimers({ toFake: [...toFake] });
      disk.before = (operation) => (operation.startsWith(what) ? never() : undefined);
      for (const of of [id, "http://host/new/"]) {
        const loading = openStoreFor(of).then(async ({ store, refusal }) => {
          return store ? loadFrom(store, host, { of }) : refusal;
        });
        const loaded = await settled(loading);
        if (typeof loaded === "string") expect(loaded).toContain("has not answered");
        else expect(isRight(loaded, host)).toBe(true);
      }
      const asking = Promise.all([listModels(), storage(), removeModel(id).catch((error: unknown) => error)]);
      const [, , removed] = await settled(asking);
      if (typeof removed !== "boolean") expect(removed).toBeInstanceOf(Gpt2Error);
    },
  );

  it("the load's report mentions a file system that never answers", async () => {
    const host = new Host();
    await load(host);
    const store = await storeFor(id);
    vi.useFakeTimers({ toFake: [...toFake] });
    disk.before = never;
    const loading = loadFrom(store, host);
    expect((await settled(loading)).notStored).toContain("the browser's storage has not answered for 15 s");
  });

  it("a load continues even if another tab never finishes its change", async () => {
    const host = new Host();
    void disk.navigator.locks.request("gpt2-wasm store", () => new Promise(() => {}));
    vi.useFakeTimers({ toFake: [...toFake] });
    const loading = load(host);
    const loaded = await settled(loading);
    expect(isRight(loaded, host)).toBe(true);
    expect(loaded.notStored).not.toBeNull();
  });

  it("a load waits once for a lock that another tab never returns, whatever it still has to store", async () => {
    const { locks } = disk.navigator;
    void locks.request("gpt2-wasm store", () => new Promise(() => {}));
    const request = vi.spyOn(locks, "request");
    vi.useFakeTimers({ toFake: [...toFake] });
    await settled(load(new Host()));
    const asked = request.mock.calls.filter(([name]) => name === "gpt2-wasm store");
    // For the first change, and for the room if that is needed before the first wait has ended.
    expect([1, 2]).toContain(asked.length);
  });
});

describe("records", () => {
  const record = async () => {
    const [file] = (await disk.folder("models")).files.values();
    if (!file) throw new Error("there is no record");
    return file;
  };

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

  it("a record with the name of another model is ignored", async () => {
    await load(new Host());
    const models = await disk.folder("models");
    const [[name, file] = []] = models.files;
    if (!name || !file) throw new Error("there is no record");
    models.files.delete(name);
    models.files.set(name.replace(/^..../, "0000"), file);
    expect(await listModels()).toEqual([]);
  });

  it("a record of the previous release, which has no hash, is read", async () => {
    const host = new Host();
    await load(host);
    const file = await record();
    const { sha256: _, ...older } = JSON.parse(new TextDecoder().decode(file.bytes)) as Record<
      string,
      unknown
    >;
    file.bytes = new TextEncoder().encode(JSON.stringify(older));
    host.isDown = true;
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
});

it("a tab that ends at any step leaves no incomplete model that is listed as complete", async () => {
  for (let steps = 5; ; steps += 7) {
    disk = new FakeDisk();
    vi.stubGlobal("navigator", disk.navigator);
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
    for (const { files } of [
      await disk.folder("blobs"),
      await disk.folder("models"),
      await disk.folder("changed"),
    ]) {
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

describe("two kinds of stores", () => {
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
});

describe("a newer version on the host", () => {
  const changed = () => new Host([bytes(1000, 1), bytes(700, 3)]);

  it("a newer version that fails to load is replaced by the stored one", async () => {
    const host = new Host();
    await load(host);
    const newer = changed();
    newer.files.delete("w.001"); // only half of it is on the host yet
    const source = new CachedSource(await storeFor(id), newer, id, revalidationBy(newer));
    await source.open("weights.json", { signal });
    await expect(source.open("w.001", { signal })).rejects.toThrow("no w.001");
    const other = source.another();
    if (typeof other !== "object") throw new Error("there is no other source");
    const { stream, origin } = await other.open("w.001", { signal });
    expect(origin).toBe("cache");
    expect(hash(await bytesOf(stream))).toBe(hash(bytes(700, 2)));
  });

  it("a newer version with an error page as a piece is replaced by the stored one", async () => {
    await load(new Host());
    const newer = changed();
    const piece = { path: "w.001", size: 700, sha256: hash(bytes(700, 3)) };
    newer.files.set(piece.path, new TextEncoder().encode('{"error":"no access"}'));
    const source = new CachedSource(await storeFor(id), newer, id, revalidationBy(newer));
    await source.open("weights.json", { signal });
    const room = Promise.resolve(new Uint8Array(piece.size));
    const reading = new NetworkPieces(source, sha256).read(piece, room, { signal, onBytes: () => {} });
    await expect(reading).rejects.toThrow('it begins with the text "{"error":"no access"}"');
    const other = source.another();
    if (typeof other !== "object") throw new Error("there is no other source");
    const { stream } = await other.open(piece.path, { signal });
    expect(hash(await bytesOf(stream))).toBe(hash(bytes(700, 2)));
  });

  it("a load limits its wait for a host that was late before and is silent now", async () => {
    const host = new Host();
    const { source } = await load(host);
    expect(source.another()).toBeUndefined();
    const [key = ""] = (await disk.folder("models")).files.keys();
    await (await disk.folder("changed")).getFileHandle(key, { create: true });
    vi.useFakeTimers({ toFake: [...toFake] });
    const silent = { patienceMs: 500, hasChanged: () => new Promise<boolean>(() => {}) };
    const loading = load(host, { revalidation: silent });
    expect((await settled(loading)).origins).toEqual(["cache", "cache"]);
  });

  it("a newer config.json replaces the stored one only after the load", async () => {
    const host = new Host();
    await load(host);
    const broken = new Host(undefined, '{"n_embd":1}');
    const revalidation = { patienceMs: 500, hasChanged: async () => true };
    const source = new CachedSource(await storeFor(id), broken, id, revalidation);
    for (const name of ["config.json", "weights.json", "vocab.json"]) await source.open(name, { signal });
    await vi.waitFor(async () => expect((await disk.folder("models")).files.size).toBe(2));
    host.isDown = true;
    expect(isRight(await load(host), host)).toBe(true);
  });
});
