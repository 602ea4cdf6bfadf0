// The store in Cache Storage, for browsers that refuse the origin private file system.
import { beforeEach, expect, it, vi } from "vitest";
import { CacheStorageStore } from "../../web/src/model/store/cache-storage-store.js";
import { bytesOf, writeFile } from "../../web/src/model/store/store.js";
import { FakeCaches } from "./support/fake-caches.js";

let caches: FakeCaches;
beforeEach(() => {
  caches = new FakeCaches();
  vi.stubGlobal("caches", caches);
});

const text = (words: string) => new TextEncoder().encode(words);
const readAll = async (stream: ReadableStream<Uint8Array> | undefined) =>
  stream && new TextDecoder().decode(await bytesOf(stream));

it("the store keeps files by folder and name, under addresses that are never fetched", async () => {
  const store = await CacheStorageStore.open();
  expect(store.kind).toBe("cache-storage");
  expect(await store.size("blobs", "x")).toBeUndefined();
  for (const from of [0, 3]) expect(await store.read("blobs", "x", from)).toBeUndefined();
  await store.remove("blobs", "x"); // there is none
  expect(await store.list("blobs")).toEqual([]);
  await writeFile(store, "blobs", "a/b?c", text("hello"));
  await writeFile(store, "models", "a/b?c", text("other one"));
  expect([await store.size("blobs", "a/b?c"), await store.size("models", "a/b?c")]).toEqual([5, 9]);
  expect(await readAll(await store.read("blobs", "a/b?c"))).toBe("hello");
  expect(await readAll(await store.read("blobs", "a/b?c", 2))).toBe("llo");
  expect([...caches.all.keys()]).toEqual(["gpt2-wasm-store"]);
  const addresses = [...((await caches.open("gpt2-wasm-store")).entries.keys() as Iterable<string>)];
  expect(addresses).toEqual([
    "https://gpt2-wasm.invalid/blobs/a%2Fb%3Fc",
    "https://gpt2-wasm.invalid/models/a%2Fb%3Fc",
  ]);
});

it("the store appends after the given number of bytes, and cuts off the rest", async () => {
  const store = await CacheStorageStore.open();
  await writeFile(store, "blobs", "x", text("0123456789"));
  const file = await store.append("blobs", "x", 4);
  const reused = text("abc");
  await file.write(reused);
  reused.fill(0);
  expect(await readAll(await store.read("blobs", "x"))).toBe("0123456789"); // until it is whole
  await file.write(text("d"));
  await file.close();
  expect(await readAll(await store.read("blobs", "x"))).toBe("0123abcd");
  const writer = await store.append("blobs", "x", 0);
  await writer.write(text("Z"));
  await writer.close();
  expect(await readAll(await store.read("blobs", "x"))).toBe("Z");
  const later = await store.append("blobs", "new", 7); // there are no bytes to resume from
  await later.write(text("n"));
  await later.close();
  expect(await readAll(await store.read("blobs", "new"))).toBe("n");
});

it("the store lists a folder with sizes and times, and removes files", async () => {
  vi.useFakeTimers({ now: new Date("2026-05-04T03:02:01Z") });
  const store = await CacheStorageStore.open();
  await writeFile(store, "kept", "a b", text("123"));
  await writeFile(store, "kept", "empty");
  await writeFile(store, "models", "c", text("1"));
  const modified = Date.parse("2026-05-04T03:02:01Z");
  expect(await store.list("kept")).toEqual([
    { name: "a b", size: 3, modified },
    { name: "empty", size: 0, modified },
  ]);
  vi.useRealTimers();
  expect(await store.size("kept", "empty")).toBe(0);
  await store.remove("kept", "a b");
  expect((await store.list("kept")).map(({ name }) => name)).toEqual(["empty"]);
  const cache = await caches.open("gpt2-wasm-store");
  vi.spyOn(cache, "match").mockResolvedValue(undefined); // another page was faster
  expect(await store.list("kept")).toEqual([]);
});

it("the store does not open if the browser refuses Cache Storage", async () => {
  vi.stubGlobal("caches", { open: () => Promise.reject(new DOMException("no", "SecurityError")) });
  await expect(CacheStorageStore.open()).rejects.toThrow("no");
});

it("the store writes a file again if the browser loses it, and reports a browser that loses every file", async () => {
  const store = await CacheStorageStore.open();
  const cache = await caches.open("gpt2-wasm-store");
  cache.ghosts.add("https://gpt2-wasm.invalid/blobs/x");
  await writeFile(store, "blobs", "x", text("hello"));
  expect(await readAll(await store.read("blobs", "x"))).toBe("hello");
  cache.losesAll = true;
  await expect(writeFile(store, "blobs", "y", text("hello"))).rejects.toThrow("loses stored files");
});
