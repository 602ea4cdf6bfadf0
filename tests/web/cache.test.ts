// Stored models: loaded without their host, damaged, interrupted, loaded twice at once, or replaced by a newer version.
import { expect, it, vi } from "vitest";
import { CachedSource } from "../../web/src/model/store/cached-source.js";
import { listModels, removeModel } from "../../web/src/model/store/models.js";
import { bytesOf } from "../../web/src/model/store/store.js";
import { bytes, hash, Host, id, small } from "./support/model-host.js";
import {
  begin,
  blob,
  disk,
  flip,
  isRight,
  load,
  settled,
  stopClock,
  storeFor,
  useDisk,
} from "./support/stored-models.js";

const signal = new AbortController().signal;
const text = (value: string) => new TextEncoder().encode(value);
useDisk();

/** Simulates a killed tab: its handles are released, and its written bytes stay. */
async function dieWhile(host: Host, cutAfter: number): Promise<void> {
  host.cutAfter = cutAfter;
  await expect(load(host)).rejects.toThrow();
  host.cutAfter = Infinity;
}

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

it("if the host is slow, a stored model loads at once, and the host's answer counts the next time", async () => {
  await load(new Host());
  const changed = new Host([bytes(1000, 1), bytes(700, 3)]);
  let answer: (hasChanged: boolean) => void = () => {};
  const hasChanged = () => new Promise<boolean>((resolve) => (answer = resolve));
  const late = { patienceMs: 20, hasChanged };
  const { source, origins } = await load(changed, { revalidation: late });
  expect(origins).toEqual(["cache", "cache"]);
  answer(true);
  const { files: marks } = await disk.folder("changed");
  await vi.waitFor(async () => {
    await source.notStored();
    expect(marks.size).toBe(1);
  });
  stopClock();
  const afterPatience = async () => new Promise<boolean>((resolve) => setTimeout(resolve, 1000, true));
  const next = load(changed, { revalidation: { patienceMs: 20, hasChanged: afterPatience } });
  expect((await settled(next)).origins).toEqual(["cache", "network"]);
});

it("a stored model is checked with its host if the same address may mean another model", async () => {
  await load(new Host());
  const other = new Host([bytes(1000, 1), bytes(600, 7)]);
  const { read, origins } = await load(other, { revalidation: undefined });
  expect(origins).toEqual(["cache", "network"]);
  expect(hash(read.get("w.001") ?? bytes(0, 0))).toBe(hash(bytes(600, 7)));
});

const piece = bytes(1000, 1);
it.each<[string, Uint8Array, (file: { bytes: Uint8Array }) => unknown]>([
  ["a byte of a piece", piece, (file) => flip(file, 500)],
  ["the end of a piece", piece, (file) => (file.bytes = file.bytes.slice(0, 400))],
  ["all of a piece", piece, (file) => (file.bytes = new Uint8Array())],
  ["a piece that is longer", piece, (file) => (file.bytes = new Uint8Array(2000))],
  ["a small file", text("m"), (file) => flip(file, 0)],
])("a damaged stored model heals itself: %s", async (_, content, damage) => {
  const host = new Host();
  await load(host);
  damage((await blob(content)) ?? { bytes: new Uint8Array() });
  expect(isRight(await load(host), host)).toBe(true);
  const given = host.given;
  host.isDown = true;
  expect((await load(host)).origins).toEqual(["cache", "cache"]);
  expect(host.given).toBe(given);
});

it("a damaged stored model is refused if the host has another version of a small file, and loads the next time", async () => {
  const host = new Host();
  await load(host);
  flip(await blob(text("m")), 0);
  host.files.set("merges.txt", text("n"));
  const refusal = { code: "corrupt", message: expect.stringContaining("merges.txt") as string };
  await expect(load(host)).rejects.toMatchObject(refusal);
  expect(isRight(await load(host), host)).toBe(true);
});

it("an interrupted download resumes where it stopped, at ten places", async () => {
  const host = new Host([bytes(5000, 1), bytes(3000, 2)]);
  for (let cut = 300; cut < 5000; cut += 480) await dieWhile(host, cut);
  expect(isRight(await load(host), host)).toBe(true);
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
  flip(await blob(bytes(1000, 1)), 10);
  expect(isRight(await load(host), host)).toBe(true);
});

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
  const source = await begin(new Host());
  const file = await source.open("w.000", { signal });
  expect(hash(await bytesOf(file.stream))).toBe(hash(bytes(1000, 1)));
  expect(await dying).toBe("died");
});

it("a tab that waits for another tab's download can be aborted", async () => {
  const host = new Host();
  const holder = await begin(host);
  const held = await holder.open("w.000", { signal }); // and is never read
  const waiter = await begin(host);
  const controller = new AbortController();
  const request = vi.spyOn(disk.navigator.locks, "request");
  const before = request.mock.calls.length;
  const waiting = waiter.open("w.000", { signal: controller.signal });
  await vi.waitFor(() => expect(request.mock.calls.length).toBeGreaterThan(before));
  controller.abort(new Error("enough"));
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

it("a newer version that fails to load is replaced by the stored one", async () => {
  const host = new Host();
  await load(host);
  const newer = new Host([bytes(1000, 1), bytes(700, 3)]);
  newer.files.delete("w.001"); // only half of it is on the host yet
  const source = await begin(newer);
  await expect(source.open("w.001", { signal })).rejects.toThrow("no w.001");
  const other = source.another();
  if (typeof other !== "object") throw new Error("there is no other source");
  const { stream, origin } = await other.open("w.001", { signal });
  expect(origin).toBe("cache");
  expect(hash(await bytesOf(stream))).toBe(hash(bytes(700, 2)));
});

it("a load limits its wait for a host that was late before and is silent now", async () => {
  const host = new Host();
  const { source } = await load(host);
  expect(source.another()).toBeUndefined();
  const [key = ""] = (await disk.folder("models")).files.keys();
  await (await disk.folder("changed")).getFileHandle(key, { create: true });
  stopClock();
  const silent = { patienceMs: 500, hasChanged: () => new Promise<boolean>(() => {}) };
  const loading = load(host, { revalidation: silent });
  expect((await settled(loading)).origins).toEqual(["cache", "cache"]);
});

it("a newer config.json replaces the stored one only after the load", async () => {
  const host = new Host();
  await load(host);
  const broken = new Host(undefined, '{"n_embd":1}');
  const revalidation = { patienceMs: 500, hasChanged: async () => true };
  const source = new CachedSource(await storeFor(), broken, id, revalidation);
  for (const name of ["config.json", "weights.json", "vocab.json"]) await source.open(name, { signal });
  await vi.waitFor(async () => expect((await disk.folder("models")).files.size).toBe(2));
  host.isDown = true;
  expect(isRight(await load(host), host)).toBe(true);
});
