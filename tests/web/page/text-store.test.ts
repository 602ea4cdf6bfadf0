// @vitest-environment happy-dom
// The records of texts: the newest is read, a damaged one leaves the one before it, and pages do not see each other's.
import "fake-indexeddb/auto";
import { IDBFactory } from "fake-indexeddb";
import { openDB } from "idb";
import { beforeEach, expect, it, vi } from "vitest";
import { writeLastChange } from "../../../web/page/library/last-change.js";
import { TextStore } from "../../../web/page/library/store.js";
import { takeText } from "../../../web/page/library/take.js";

const names = { prefix: "gpt2-text / ", firstText: "Once upon a time" };
const content = (text: string) => ({ text, caret: text.length, written: [] });
const open = (path = "/") => TextStore.open(path, () => undefined);

/** Names that living tabs hold. */
let held: Set<string>;

beforeEach(() => {
  vi.stubGlobal("indexedDB", new IDBFactory());
  localStorage.clear();
  held = new Set();
  const request = (name: string, _options: object, then: (lock: object | null) => Promise<void>) =>
    then(held.has(name) ? null : {});
  vi.stubGlobal("navigator", { locks: { request } });
});

/** Stores the versions of one text, the last of them `changed` last. */
async function storeAll(store: TextStore, id: string, changed: number, ...texts: string[]): Promise<void> {
  for (const [place, text] of texts.entries())
    await store.put(id, { version: place + 1, changed, content: content(text) });
}

const taken = async (store: TextStore, own?: string) => {
  const found = await takeText(store, own, names);
  return found && [found.id, found.kept.draft ?? found.kept.text];
};

/** Writes into the database as another program might. */
async function damage(id: string, slot: number, record: object): Promise<void> {
  const database = await openDB("gpt2-texts");
  await database.put("texts", { path: "/", id, slot, ...record });
  database.close();
}

it("a tab loads its own text in the newest version", async () => {
  const store = await open();
  await storeAll(store, "a", 1, "one", "two", "three");
  await storeAll(store, "b", 2, "other");
  expect(await taken(store, "a")).toEqual(["a", "three"]);
  expect((await store.versions("a")).map((version) => version?.version)).toEqual([3, 2]);
});

it.each([
  ["without its content", { version: 4, changed: 1 }],
  ["with a text that is none", { version: 4, changed: 1, content: { text: 1 } }],
  ["without a version", { changed: 1, content: content("bad") }],
  ["with a version that is no number", { version: "5", changed: 1, content: content("bad") }],
  ["with a version that cannot grow", { version: 2 ** 53 - 1, changed: 1, content: content("bad") }],
])("a newest record that is %s falls back to the one before", async (_what, record) => {
  const store = await open();
  await storeAll(store, "a", 1, "one", "two", "three");
  await damage("a", 0, record);
  expect(await taken(store, "a")).toEqual(["a", "three"]);
});

it("a new tab loads the last changed text that no other open tab uses", async () => {
  const store = await open();
  await storeAll(store, "old", 1, "old");
  await storeAll(store, "closed", 3, "closed");
  await storeAll(store, "living", 4, "living");
  held.add("gpt2-text / living");
  expect(await taken(store)).toEqual(["closed", "closed"]);
});

it("a new tab loads the last changed text even if the clock was set back before", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2030-01-01") });
  const store = await open();
  await storeAll(store, "before", store.timeOfChange(), "before");
  vi.setSystemTime(new Date("2026-01-01"));
  const later = await open();
  expect(await taken(later)).toEqual(["before", "before"]);
  await storeAll(later, "after", later.timeOfChange(), "after");
  expect(await taken(await open())).toEqual(["after", "after"]);
});

it("a text is kept even if the time of its last change is lost", async () => {
  const store = await open();
  await storeAll(store, "a", 1, "one");
  await damage("a", 0, { version: 2, changed: 1e300, content: content("two") });
  expect(await taken(store)).toEqual(["a", "two"]);
});

it("pages at other addresses have separate texts", async () => {
  await storeAll(await open("/a.html"), "a", 1, "one");
  expect(await taken(await open("/"))).toBeUndefined();
  expect(await taken(await open("/a.html/"))).toBeUndefined();
});

it("an unstored change is restored only in the version in which it was made", async () => {
  const store = await open();
  await storeAll(store, "a", 1, "one", "two");
  const change = { from: 3, to: 3, insert: "!" };
  writeLastChange("gpt2-text / a", { version: 2, change, caret: 4 });
  expect(await taken(store, "a")).toEqual(["a", "two!"]);
  writeLastChange("gpt2-text / a", { version: 1, change, caret: 4 });
  expect(await taken(store, "a")).toEqual(["a", "two"]);
});

it("a text of which only the last change is known is loaded, too", async () => {
  const store = await open();
  writeLastChange("gpt2-text / a", { version: 0, change: { from: 16, to: 16, insert: " there" }, caret: 22 });
  expect(await taken(store)).toEqual(["a", "Once upon a time there"]);
});

it("the text store opens the database of a later release", async () => {
  const later = await openDB("gpt2-texts", 7, {
    upgrade(database) {
      const texts = database.createObjectStore("texts", { keyPath: ["path", "id", "slot"] });
      texts.createIndex("changed", ["path", "changed"]);
    },
  });
  later.close();
  const store = await open();
  await storeAll(store, "a", 1, "one");
  expect(await taken(store)).toEqual(["a", "one"]);
});

it("when the browser refuses one of several new texts at once, it stores none of them", async () => {
  const store = await open();
  const text = (id: string, stored: unknown) => ({ id, changed: 1, content: stored, name: undefined });
  const refused = () => undefined; // as a record that is too large: functions cannot be stored
  await expect(store.add([text("a", content("one")), text("b", refused)])).rejects.toThrow();
  expect(await store.ids()).toEqual([]);
  await store.add([text("a", content("one"))]);
  expect(await store.ids()).toEqual(["a"]);
});
