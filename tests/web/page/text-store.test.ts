// @vitest-environment happy-dom
// The records of texts, also those of earlier and later releases, and damaged ones.
import { openDB } from "idb";
import { beforeEach, expect, it, vi } from "vitest";
import { writeLastChange } from "../../../web/page/library/last-change.js";
import { TextStore } from "../../../web/page/library/store.js";
import { takeText } from "../../../web/page/library/take.js";
import { beginBrowser, content, firstText, lockOf, locks, putRows, rowsOf } from "../support/text-tabs.js";

const open = (path = "/") => TextStore.open(path, () => undefined);
beforeEach(beginBrowser);

/** Stores the versions of one text, the last of them `changed` last. */
async function storeAll(store: TextStore, id: string, changed: number, ...texts: string[]): Promise<void> {
  for (const [place, text] of texts.entries())
    await store.put([{ id, version: place + 1, changed, name: undefined, content: content(text) }]);
}

const foundDamage = vi.fn();
const taken = async (store: TextStore, own?: string) => {
  const found = await takeText(store, own, firstText, foundDamage);
  return found && [found.id, found.kept.draft ?? found.kept.text];
};

/** A text as earlier releases stored it. */
const earlier = (text: string, version: number) => ({
  slot: version % 2,
  version,
  changed: version,
  content: content(text),
});
const bad = { slot: 0, version: 4, changed: 4, content: content("bad") };

it("a text has one record, which each version replaces", async () => {
  const store = await open();
  await storeAll(store, "a", 1, "one", "two", "three");
  await storeAll(store, "b", 2, "other");
  expect(await taken(store, "a")).toEqual(["a", "three"]);
  expect(await rowsOf("a")).toMatchObject([{ version: 3, content: content("three") }]);
});

it("a text of an earlier release is read from its newest record, and its name from a third; a write that fails leaves them", async () => {
  const store = await open();
  await putRows(earlier("two", 2), earlier("three", 3), { slot: 2, name: "Name" });
  const text = { id: "a", version: 4, changed: 5, name: "Name" };
  expect(await store.read("a")).toMatchObject({ version: 3, name: "Name", kept: content("three") });
  await expect(store.put([{ ...text, content: { text: () => 0 } }])).rejects.toThrow(); // functions cannot be stored
  expect(await rowsOf("a")).toHaveLength(3);
  await store.put([{ ...text, content: content("four") }]); // the name may be newer than what its tab knows
  expect(await rowsOf("a")).toMatchObject([
    { slot: 0, version: 4 },
    { slot: 2, name: "Name" },
  ]);
  await store.put([{ ...text, isNamed: true, content: content("four") }]);
  expect(await rowsOf("a")).toEqual([{ path: "/", slot: 0, ...text, content: content("four") }]);
  expect(await store.read("a")).toMatchObject({ version: 4, name: "Name" });
  await putRows(earlier("five", 5)); // a tab of the earlier release writes it
  expect(await store.read("a")).toMatchObject({ version: 5, kept: content("five") });
});

it.each([
  ["without its content", { content: undefined }],
  ["with a text that is none", { content: { text: 1 } }],
  ["without a version", { version: undefined }],
  ["with a version that is no number", { version: "5" }],
  ["with a version that cannot grow", { version: 2 ** 53 - 1 }],
])("of an earlier release's records, one %s leaves the other", async (_what, damage) => {
  const store = await open();
  await putRows(earlier("three", 3), { ...bad, ...damage });
  expect(await taken(store, "a")).toEqual(["a", "three"]);
});

it("a damaged version or time of a readable text is replaced", async () => {
  const store = await open();
  for (const damage of [{ version: "5" }, { changed: 1e300 }, { changed: undefined }]) {
    locks.clear();
    await putRows({ version: 2, changed: 1, content: content("two"), ...damage });
    expect(await taken(store)).toEqual(["a", "two"]);
  }
});

it("a record that cannot be read is reported and stays", async () => {
  const store = await open();
  await putRows({ version: 2, changed: 1, content: 1 });
  expect(await taken(store, "a")).toBeUndefined();
  expect(foundDamage).toHaveBeenCalledTimes(1);
  expect(await rowsOf("a")).toHaveLength(1);
});

it.each([[{ name: 3 }], [{}], [{ name: " " }]])("a damaged name %j is none", async (name) => {
  const store = await open();
  await storeAll(store, "a", 1, "one");
  await putRows({ slot: 2, ...name });
  expect(await store.read("a")).toMatchObject({ name: undefined, kept: content("one") });
  await putRows({ id: "deleted", slot: 2, ...name });
  expect(await store.read("deleted")).toBeUndefined();
});

it("a new tab loads the last changed text that no other open tab uses", async () => {
  const store = await open();
  await storeAll(store, "old", 1, "old");
  await storeAll(store, "closed", 3, "closed");
  await storeAll(store, "living", 4, "living");
  locks.add(lockOf("living"));
  expect(await taken(store)).toEqual(["closed", "closed"]);
});

it("a new tab loads the last changed text even if the clock was set back before", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2030-01-01") });
  const store = await open();
  await storeAll(store, "before", store.timeOfChange(), "before");
  vi.setSystemTime(new Date("2026-01-01"));
  const later = await open();
  expect(await taken(later)).toEqual(["before", "before"]);
  locks.clear();
  await storeAll(later, "after", later.timeOfChange(), "after");
  expect(await taken(await open())).toEqual(["after", "after"]);
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
  for (const [version, text] of [
    [2, "two!"],
    [1, "two"],
  ] as const) {
    locks.clear();
    writeLastChange("a", { version, change, caret: 4 });
    expect(await taken(store, "a")).toEqual(["a", text]);
  }
});

it("a text of which only the last change is known is loaded, too", async () => {
  const store = await open();
  writeLastChange("a", { version: 0, change: { from: 16, to: 16, insert: " there" }, caret: 22 });
  expect(await taken(store)).toEqual(["a", "Once upon a time there"]);
});

it.each([
  ["of a later release", 7, true],
  ["without texts of another program", 1, false],
])("the text store opens the database %s", async (_, version, hasTexts) => {
  const other = await openDB("gpt2-texts", version, {
    upgrade(database) {
      if (!hasTexts) return;
      const texts = database.createObjectStore("texts", { keyPath: ["path", "id", "slot"] });
      texts.createIndex("changed", ["path", "changed"]);
    },
  });
  other.close();
  const store = await open();
  await storeAll(store, "a", 1, "one");
  expect(await taken(store)).toEqual(["a", "one"]);
});

it("when the browser refuses one of several new texts at once, it stores none of them", async () => {
  const store = await open();
  const text = (id: string, stored: object) => ({
    id,
    version: 1,
    changed: 1,
    name: undefined,
    content: stored,
  });
  const refused = () => undefined; // as a record that is too large: functions cannot be stored
  await expect(store.put([text("a", content("one")), text("b", refused)])).rejects.toThrow();
  expect(await store.ids()).toEqual([]);
  await store.put([text("a", content("one"))]);
  expect(await store.ids()).toEqual(["a"]);
});

it("a write that never settles fails, so that it is tried again", async () => {
  const store = await open();
  vi.useFakeTimers();
  vi.spyOn(IDBDatabase.prototype, "transaction").mockReturnValue({
    store: { put: () => Promise.resolve() },
    commit: () => {},
    done: new Promise(() => {}),
  } as never);
  const refused = expect(store.rename("a", "")).rejects.toMatchObject({ name: "TimeoutError" });
  await vi.advanceTimersByTimeAsync(15_000);
  await refused;
});

it("a text that another tab replaces while it is read is read again, and is not damaged", async () => {
  const store = await open();
  await putRows(earlier("three", 3));
  const get = vi.spyOn(IDBObjectStore.prototype, "get");
  get.mockImplementationOnce(function (this: IDBObjectStore) {
    return this.get(["/", "a", "gone"]);
  });
  expect(await store.read("a")).toMatchObject({ version: 3 });
  get.mockRestore();
});
