// Stored models, in a file system in memory: damaged, truncated, refused or written twice.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CachedSource } from "../../web/src/cache/cached-source.js";
import type { Revalidation } from "../../web/src/cache/revalidation.js";
import { evictOne, keepModel, listModels, removeModel, storage } from "../../web/src/cache/models.js";
import { markLoading } from "../../web/src/cache/locks.js";
import { openStore } from "../../web/src/cache/open-store.js";
import { digestOf } from "../../web/src/cache/records.js";
import { bytesOf, writeFile, type Store } from "../../web/src/cache/store.js";
import { LoadError } from "../../web/src/shared/errors.js";
import { FakeDisk } from "./support/fake-opfs.js";
import { bytes, hash, Host, id, loadFrom, small, type LoadOptions } from "./support/model-host.js";

const signal = new AbortController().signal;

let disk: FakeDisk;
let store: Store;
beforeEach(async () => {
  disk = new FakeDisk();
  vi.stubGlobal("navigator", disk.navigator);
  vi.stubGlobal("location", { href: "http://host/page.html" });
  store = await storeNow();
});
afterEach(() => vi.unstubAllGlobals());

async function storeNow(): Promise<Store> {
  const opened = await openStore(true);
  if (!opened.store) throw new Error(opened.refusal);
  return opened.store;
}

const load = (host: Host, options: LoadOptions = {}) => loadFrom(store, host, options);

/** Simulates a killed tab: its handles are released, and its written bytes stay. */
async function dieWhile(host: Host, cutAfter: number): Promise<void> {
  host.cutAfter = cutAfter;
  await expect(load(host)).rejects.toThrow();
  host.cutAfter = Infinity;
}

const blob = async (piece: Uint8Array) => (await disk.folder("blobs")).files.get(hash(piece));

describe("a model that was loaded once", () => {
  it("a model that was loaded once is read without its host, byte for byte", async () => {
    const host = new Host();
    const first = await load(host);
    expect(first.origins).toEqual(["network", "network"]);
    expect(first.notStored).toBeNull();
    host.isDown = true;
    const given = host.given;
    const second = await load(host);
    expect(second.origins).toEqual(["cache", "cache"]);
    expect(host.given).toBe(given);
    expect([...second.read]).toEqual(expect.arrayContaining([...first.read]));
    expect(second.read.has("generation_config.json")).toBe(false); // the host has none
  });

  it("models share stored pieces that are equal", async () => {
    await load(new Host());
    const other = new Host([bytes(1000, 1), bytes(500, 9)]);
    const { origins } = await load(other, { of: "http://host/other/" });
    expect(origins).toEqual(["cache", "network"]);
    await removeModel("http://host/other/");
    const again = await load(new Host());
    expect(again.origins).toEqual(["cache", "cache"]); // the files that the first model needs have stayed
    expect(await blob(bytes(500, 9))).toBeUndefined();
  });

  it("if the host has another version of a stored model, only the changed pieces are fetched", async () => {
    await load(new Host());
    const changed = new Host([bytes(1000, 1), bytes(700, 3)], '{"changed":1}');
    const { origins, read } = await load(changed);
    expect(origins).toEqual(["cache", "network"]);
    expect(new TextDecoder().decode(read.get("config.json"))).toBe('{"changed":1}');
    expect(changed.opened.filter(({ name }) => name === "config.json")).toEqual([
      { name: "config.json", from: 0, reload: true }, // other caches have the old one
    ]);
    expect(await blob(bytes(700, 2))).toBeUndefined();
    expect(await listModels()).toHaveLength(1);
  });

  it("a stored model stays complete until all of another version has arrived", async () => {
    const old = new Host();
    await load(old);
    await dieWhile(new Host([bytes(1000, 4), bytes(700, 5)]), 300);
    old.isDown = true;
    expect((await load(old)).origins).toEqual(["cache", "cache"]);
  });

  it("if the host is slow, a stored model loads at once, and the host's answer counts the next time", async () => {
    await load(new Host());
    const changed = new Host([bytes(1000, 1), bytes(700, 3)]);
    let answer: (hasChanged: boolean) => void = () => {};
    const late = { patienceMs: 20, hasChanged: () => new Promise<boolean>((resolve) => (answer = resolve)) };
    const { source, origins } = await load(changed, { revalidation: late });
    expect(origins).toEqual(["cache", "cache"]);
    answer(true);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await source.notStored();
    const slow = {
      ...late,
      hasChanged: async () => new Promise<boolean>((resolve) => setTimeout(resolve, 100, true)),
    };
    expect((await load(changed, { revalidation: slow })).origins).toEqual(["cache", "network"]);
  });

  it("a stored model is checked with its host if the same address may mean another model", async () => {
    await load(new Host());
    const other = new Host([bytes(1000, 1), bytes(600, 7)]);
    const { read, origins } = await load(other, { revalidation: undefined });
    expect(origins).toEqual(["cache", "network"]);
    expect(hash(read.get("w.001") ?? bytes(0, 0))).toBe(hash(bytes(600, 7)));
  });
});

describe("damaged data", () => {
  it.each([
    ["a bit of a piece", (file: { bytes: Uint8Array }) => (file.bytes[500] = 255 - (file.bytes[500] ?? 0))],
    ["the end of a piece", (file: { bytes: Uint8Array }) => (file.bytes = file.bytes.slice(0, 400))],
    ["all of a piece", (file: { bytes: Uint8Array }) => (file.bytes = new Uint8Array())],
    ["a piece that is longer", (file: { bytes: Uint8Array }) => (file.bytes = new Uint8Array(2000))],
  ])("a damaged stored model heals itself: %s", async (_, damage) => {
    const host = new Host();
    await load(host);
    damage((await blob(bytes(1000, 1))) ?? { bytes: new Uint8Array() });
    const { read } = await load(host);
    expect(hash(read.get("w.000") ?? bytes(0, 0))).toBe(hash(bytes(1000, 1)));
    const given = host.given;
    expect((await load(host)).origins).toEqual(["cache", "cache"]);
    expect(host.given).toBe(given);
  });

  it("a damaged small file of a stored model is fetched again", async () => {
    const host = new Host();
    await load(host);
    const file = (await disk.folder("blobs")).files.get(hash(new TextEncoder().encode("m")));
    if (file) file.bytes[0] = 0;
    const { read } = await load(host);
    expect(new TextDecoder().decode(read.get("merges.txt"))).toBe("m");
    host.isDown = true;
    expect((await load(host)).origins).toEqual(["cache", "cache"]);
  });

  it("a damaged stored model is refused if the host has another version of a small file, and loads the next time", async () => {
    const host = new Host();
    await load(host);
    const file = (await disk.folder("blobs")).files.get(hash(new TextEncoder().encode("m")));
    if (file) file.bytes[0] = 0;
    host.files.set("merges.txt", new TextEncoder().encode("n"));
    await expect(load(host)).rejects.toMatchObject({
      code: "corrupt",
      message: expect.stringContaining("merges.txt"),
    });
    const { read } = await load(host);
    expect(new TextDecoder().decode(read.get("merges.txt"))).toBe("n");
  });

  it("a truncated record of a stored model is ignored, and the model is fetched again", async () => {
    const host = new Host();
    await load(host);
    for (const file of (await disk.folder("models")).files.values()) file.bytes = file.bytes.slice(0, 50);
    expect(await listModels()).toEqual([]);
    expect((await load(host)).origins).toEqual(["cache", "cache"]); // found by their hashes
    expect(await listModels()).toHaveLength(1);
  });
});

describe("a download that is interrupted", () => {
  it("an interrupted download resumes where it stopped, at ten places", async () => {
    const host = new Host([bytes(5000, 1), bytes(3000, 2)]);
    for (let cut = 300; cut < 5000; cut += 480) await dieWhile(host, cut);
    const { read } = await load(host);
    expect(hash(read.get("w.000") ?? bytes(0, 0))).toBe(hash(bytes(5000, 1)));
    const weights = host.opened.filter(({ name }) => name === "w.000");
    expect(weights.length).toBeGreaterThanOrEqual(10);
    const indexBytes = small.reduce((sum, name) => sum + (host.files.get(name)?.length ?? 0), 0);
    expect(host.given - 11 * indexBytes).toBeLessThanOrEqual(8000); // no byte of the weights twice
  });

  it("an interrupted download is listed with its stored bytes", async () => {
    await dieWhile(new Host(), 600);
    await vi.waitFor(async () => expect(await listModels()).toHaveLength(1));
    const [model] = await listModels();
    expect(model).toMatchObject({ id, isComplete: false });
    expect(model?.bytes).toBeGreaterThan(600);
    expect(model?.bytes).toBeLessThan(model?.totalBytes ?? 0);
  });

  it("an interrupted download never counts as complete, even if its data is wrong", async () => {
    const host = new Host();
    await dieWhile(host, 600);
    const part = await blob(bytes(1000, 1));
    if (part) part.bytes[10] = 255 - (part.bytes[10] ?? 0);
    const { read } = await load(host);
    expect(hash(read.get("w.000") ?? bytes(0, 0))).toBe(hash(bytes(1000, 1)));
  });
});

describe("two loads of the same model at once", () => {
  it("two tabs that load the same model download it once", async () => {
    const host = new Host();
    const [one, two] = await Promise.all([load(host), load(host)]);
    expect(host.asked.sort()).toEqual(["w.000", "w.001"]);
    expect(one.read.get("w.001")).toEqual(two.read.get("w.001"));
  });

  it("a tab does not wait for another tab that died", async () => {
    const host = new Host();
    host.cutAfter = 500;
    const dying = load(host).catch(() => "died");
    const source = new CachedSource(store, new Host(), id, undefined);
    await source.open("weights.json", { signal });
    const file = await source.open("w.000", { signal });
    expect(hash(await bytesOf(file.stream))).toBe(hash(bytes(1000, 1)));
    expect(await dying).toBe("died");
  });

  it("a tab that waits for another tab's download can be aborted", async () => {
    const host = new Host();
    const holder = new CachedSource(store, host, id, undefined);
    await holder.open("weights.json", { signal });
    const held = await holder.open("w.000", { signal }); // and is never read
    const waiter = new CachedSource(store, host, id, undefined);
    await waiter.open("weights.json", { signal });
    const controller = new AbortController();
    const waiting = waiter.open("w.000", { signal: controller.signal });
    setTimeout(() => controller.abort(new Error("enough")), 20);
    await expect(waiting).rejects.toThrow("enough");
    await held.stream.cancel();
    const next = await waiter.open("w.000", { signal });
    expect(hash(await bytesOf(next.stream))).toBe(hash(bytes(1000, 1)));
  });

  it("without locks, two tabs stream without storing", async () => {
    Object.assign(disk.navigator, { locks: undefined });
    const host = new Host();
    expect((await load(host)).origins).toEqual(["network", "network"]);
    expect((await load(host)).origins).toEqual(["network", "network"]);
  });
});

/** A hub's model that is converted while it is read: it has no index, and a name for its version. */
class ConvertedHost extends Host {
  readonly weights = "q8";
  readonly converted: Uint8Array<ArrayBuffer>;
  commit = "c1";

  constructor(size: number) {
    super([]);
    this.converted = bytes(size, 3);
    this.files.delete("weights.json");
    this.files.set("model.safetensors", this.converted);
  }

  async version(): Promise<string | undefined> {
    return this.isDown ? Promise.reject(new LoadError("network", "down")) : this.commit;
  }

  async read(commit = this.commit) {
    const hasChanged: Revalidation["hasChanged"] = async ({ version }) => {
      if (this.isDown) throw new LoadError("network", "down");
      return version !== commit;
    };
    const version = () => this.version();
    const source = new CachedSource(store, this, "hf:a/b@main", { patienceMs: 1000, hasChanged, version });
    const names = ["config.json", "weights.json", "model.safetensors"];
    const opened = await Promise.all(
      names.map(async (name) => source.open(name, { signal }).catch(() => undefined)),
    );
    const [, index, whole] = await Promise.all(
      opened.map(async (file) => file && (await bytesOf(file.stream))),
    );
    await source.notStored();
    if (!index) return { from: "host", weights: whole };
    const { pieces } = JSON.parse(new TextDecoder().decode(index)) as { pieces: { path: string }[] };
    const parts = [];
    for (const { path } of pieces) parts.push(await bytesOf((await source.open(path, { signal })).stream));
    return { from: "store", weights: Buffer.concat(parts) };
  }
}

describe("a model that is converted while it is read", () => {
  it("a model that is converted during the load is stored converted, in pieces, and then loads without its Hub", async () => {
    const host = new ConvertedHost(9_000_000);
    const first = await host.read();
    expect(first.from).toBe("host");
    host.isDown = true;
    const second = await host.read();
    expect(second.from).toBe("store");
    expect(hash(second.weights ?? bytes(0, 0))).toBe(hash(host.converted));
    expect(await listModels()).toEqual([expect.objectContaining({ id: "hf:a/b@main", isComplete: true })]);
    expect(await removeModel("hf:a/b@main")).toBe(true);
    expect(disk.used()).toBe(0);
  });

  it("a converted model is converted again when its Hub has another version", async () => {
    const host = new ConvertedHost(1000);
    await host.read();
    host.commit = "c2";
    expect((await host.read()).from).toBe("host");
    expect((await host.read()).from).toBe("store");
    expect(await listModels()).toHaveLength(1);
  });

  it("a damaged converted model is removed, and converted again the next time", async () => {
    const host = new ConvertedHost(1000);
    await host.read();
    const file = await blob(host.converted);
    if (file) file.bytes[7] = 255 - (file.bytes[7] ?? 0);
    const hasChanged = async () => false;
    const source = new CachedSource(store, host, "hf:a/b@main", { patienceMs: 1000, hasChanged });
    const path = "model.safetensors.000";
    await bytesOf((await source.open(path, { signal })).stream); // the loader rejects its hash
    const healing = source.open(path, { signal, reload: true });
    await expect(healing).rejects.toMatchObject({ code: "corrupt", message: expect.stringContaining(path) });
    expect((await host.read()).from).toBe("host");
    const again = await host.read();
    expect(again.from).toBe("store");
    expect(hash(again.weights ?? bytes(0, 0))).toBe(hash(host.converted));
  });

  describe("a model whose first load was interrupted", () => {
    const size = 21_000_000;
    const weightsAsked = (host: Host) =>
      host.opened.filter(({ name }) => name === "model.safetensors").map(({ from }) => from);
    /** A load that is interrupted after ten pieces, of which eight are recorded. */
    const interrupted = async () => {
      const host = new ConvertedHost(size);
      host.cutAfter = 20_999_000;
      await expect(host.read()).rejects.toThrow("cut");
      await vi.waitFor(async () => expect(await listModels()).toHaveLength(1), 5000);
      host.opened.splice(0);
      host.cutAfter = Infinity;
      return host;
    };
    const isRight = (host: ConvertedHost, { weights }: { weights: Uint8Array | undefined }) =>
      hash(weights ?? bytes(0, 0)) === hash(host.converted);
    const noted = 8 * 2 * 1024 * 1024;

    it("an interrupted first load is listed as incomplete, and continues after the stored part", async () => {
      const host = await interrupted();
      const [model] = await listModels();
      expect(model).toMatchObject({ id: "hf:a/b@main", isComplete: false, totalBytes: size + 2 });
      const second = await host.read();
      expect(isRight(host, second)).toBe(true);
      expect(weightsAsked(host)).toEqual([noted]);
      expect(await listModels()).toEqual([
        expect.objectContaining({
          isComplete: true,
          bytes: expect.toSatisfy((stored: number) => stored > size),
        }),
      ]);
      host.isDown = true;
      const third = await host.read();
      expect(third.from).toBe("store");
      expect(isRight(host, third)).toBe(true);
    });

    it("an interrupted first load continues before a damaged piece", async () => {
      const host = await interrupted();
      const file = await blob(host.converted.slice(3 * 2 * 1024 * 1024, 4 * 2 * 1024 * 1024));
      if (file) file.bytes[7] = 255 - (file.bytes[7] ?? 0);
      expect(isRight(host, await host.read())).toBe(true);
      expect(weightsAsked(host)).toEqual([3 * 2 * 1024 * 1024]);
    });

    it("an interrupted first load starts again if its Hub has another version, or states none", async () => {
      const host = await interrupted();
      host.commit = "c2";
      expect(isRight(host, await host.read())).toBe(true);
      expect(weightsAsked(host)).toEqual([0]);
      expect(await listModels()).toHaveLength(1);
    });

    it("removing an interrupted first load removes all of its data", async () => {
      await interrupted();
      expect(await removeModel("hf:a/b@main")).toBe(true);
      expect(await listModels()).toEqual([]);
      // Bytes written after the last note belong to no model. They are removed when they are old.
      expect(disk.used()).toBeLessThanOrEqual(2 * 2 * 1024 * 1024);
    });

    it("an interrupted first load frees room only for what is missing", async () => {
      const host = await interrupted();
      await load(new Host(), { of: "http://host/other/" });
      disk.quota = disk.used() + Math.ceil((size - noted) * 1.01) - 1000; // the other model takes 1700
      expect(isRight(host, await host.read())).toBe(true);
      expect(await listModels()).toEqual([expect.objectContaining({ id: "hf:a/b@main", isComplete: true })]);
    });
  });

  it("a conversion that is interrupted early is not listed", async () => {
    const host = new ConvertedHost(1000);
    host.cutAfter = 500;
    await expect(host.read()).rejects.toThrow("cut");
    expect(await listModels()).toEqual([]);
  });
});

describe("storage room", () => {
  it("the model streams and says why if room is missing", async () => {
    // Large enough that it makes no difference whether the record is written before or after the room is measured.
    disk.quota = 1_540_000;
    const { read, notStored } = await load(new Host([bytes(1_200_000, 1), bytes(800_000, 2)]));
    expect(hash(read.get("w.001") ?? bytes(0, 0))).toBe(hash(bytes(800_000, 2)));
    expect(notStored).toBe("it needs 2.0 MB more, but the browser has only 1.5 MB left for this site");
  });

  it("if the small files exceed the room, that is noticed before a piece is read", async () => {
    const host = new Host();
    host.files.set("merges.txt", bytes(5000, 3));
    disk.quota = 6500; // the pieces take 1700
    expect((await load(host)).notStored).toMatch(
      /^it needs \d kB more, but the browser has only \d kB left for this site$/,
    );
  });

  it("a disk that fills up during the load is noticed, and the stored part is correct", async () => {
    const host = new Host();
    disk.navigator.storage.estimate = async () => ({ quota: 1e9, usage: 0 });
    disk.quota = 1600;
    const { read, notStored } = await load(host);
    expect(hash(read.get("w.001") ?? bytes(0, 0))).toBe(hash(bytes(700, 2)));
    expect(notStored).toBe("the browser gives this site no more storage");
    disk.quota = Infinity;
    const second = await load(host);
    expect(hash(second.read.get("w.000") ?? bytes(0, 0))).toBe(hash(bytes(1000, 1)));
    expect(second.notStored).toBeNull();
  });

  it("room for a model is made by removing the least recently used ones that are not marked as kept", async () => {
    await load(new Host([bytes(1000, 1)]), { of: "http://host/kept/" });
    await load(new Host([bytes(1000, 2)]), { of: "http://host/old/" });
    await load(new Host([bytes(1000, 3)]), { of: "http://host/new/" });
    expect(await keepModel("http://host/kept/")).toBe(true);
    disk.quota = disk.used() + 700;
    const { notStored } = await load(new Host([bytes(1000, 4)]));
    expect(notStored).toBeNull();
    expect((await listModels()).map((model) => model.id).sort()).toEqual([
      "http://host/kept/",
      id,
      "http://host/new/",
    ]);
  });
});

describe("the cache API of pages", () => {
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
    expect(await removeModel("m/")).toBe(true);
    expect(await listModels()).toEqual([]);
    expect(disk.used()).toBe(0);
  });

  it("room for a text comes from unneeded files, then from one model, but none that is kept or being loaded", async () => {
    for (const of of ["loading", "kept", "older", "newest"]) await load(new Host(), { of });
    await keepModel("kept");
    const loaded = await markLoading(await digestOf("loading"));
    const ids = async () => (await listModels()).map((model) => model.id);
    await writeFile(store, "blobs", "unneeded", bytes(9, 9));
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
    const { modelBytes, kind, quota, usage, persisted, notice } = await storage();
    expect({ kind, quota, persisted, notice }).toEqual({
      kind: "opfs",
      quota: 1e6,
      persisted: false,
      notice: null,
    });
    expect(modelBytes).toBeGreaterThan(1700);
    expect(usage).toBeGreaterThan(modelBytes);
  });

  it("if nothing can be stored, the cache API of pages reports why", async () => {
    vi.stubGlobal("navigator", {});
    expect(await listModels()).toEqual([]);
    expect(await removeModel("m")).toBe(false);
    const found = await storage();
    expect(found).toMatchObject({ kind: null, modelBytes: 0, quota: null });
    expect(found.notice).toContain("usual in private windows");
  });
});
