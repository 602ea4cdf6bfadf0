// @vitest-environment happy-dom
// The library of the page's texts, with the real store.
import "fake-indexeddb/auto";
import { signal } from "@preact/signals-core";
import { IDBFactory } from "fake-indexeddb";
import { openDB } from "idb";
import { beforeEach, expect, it, vi } from "vitest";
import { writeLastChange } from "../../../web/page/library/last-change.js";
import { TextStore } from "../../../web/page/library/store.js";
import { nameOf, prefix } from "../../../web/page/library/tab.js";
import { readText } from "../../../web/page/library/take.js";
import { parseFile } from "../../../web/page/library/text-file.js";
import { Texts, type OwnTab } from "../../../web/page/library/texts.js";

const content = (text: string) => ({ text, caret: 0, written: [] });

/** The locks that this tab and others hold. */
let held: Set<string>;

beforeEach(() => {
  vi.stubGlobal("indexedDB", new IDBFactory());
  localStorage.clear();
  held = new Set();
  type Then = (lock: object | null) => Promise<void> | undefined;
  const request = async (name: string, _: object, then: Then) => {
    if (held.has(name)) return then(null);
    held.add(name);
    await then({});
    held.delete(name);
  };
  const query = () => Promise.resolve({ held: [...held].map((name) => ({ name })) });
  vi.stubGlobal("navigator", { locks: { request, query } });
});

/** A tab that shows the text "own", and the library of the stored texts. */
async function begin(...texts: string[]) {
  const store = await TextStore.open("/", () => undefined);
  const shown = { id: "own", text: "The own." };
  await store.put("own", { version: 1, changed: 100, content: content(shown.text) });
  for (const [place, text] of texts.entries())
    await store.put(`t${place}`, { version: 1, changed: place + 1, content: content(text) });
  const names = { prefix, firstText: "Once upon a time" };
  const tab = {
    get id() {
      return shown.id;
    },
    get text() {
      return shown.text;
    },
    name: signal<string | undefined>(undefined),
    openStore: () => Promise.resolve(store),
    find: (id: string) => readText(store, id, names),
    storeWhole: vi.fn(() => Promise.resolve()),
    open: vi.fn((id = "new") => {
      shown.id = id;
      return Promise.resolve(true);
    }),
    forget: vi.fn(),
  } satisfies OwnTab;
  return { store, tab, library: new Texts(tab) };
}

/** Each text by its name or words, with the tab that shows it. */
const listed = async (library: Texts) =>
  (await library.list()).map(({ name, text, where }) => `${name ?? text} ${where}`);

it("the library lists all texts, the last changed one first, and which tab shows each", async () => {
  const { library } = await begin("one", "two", "three");
  held.add(nameOf("t1"));
  expect(await listed(library)).toEqual(["The own. here", "three nowhere", "two elsewhere", "one nowhere"]);
});

it("a name is stored beside the text, is one line, and is removed by an empty one", async () => {
  const { library, store, tab } = await begin("one");
  await library.rename("t0", "  A\nname ");
  expect(tab.name.value).toBeUndefined();
  await library.rename("own", "Mine");
  expect(tab.name.value).toBe("Mine"); // the tab's title
  expect(tab.storeWhole).toHaveBeenCalled(); // a name alone would be no text
  expect(await listed(library)).toEqual(["Mine here", "A name nowhere"]);
  expect(await store.ids()).toEqual(["own", "t0"]);
  expect((await store.versions("t0")).map((version) => version?.content)).toEqual([content("one")]);
  await library.rename("t0", " ");
  expect((await listed(library))[1]).toEqual("one nowhere");
});

it.each([[{ name: 3 }], [{}], [{ name: " " }]])("a damaged name %j is not shown", async (record) => {
  const { library } = await begin("one");
  const database = await openDB("gpt2-texts");
  await database.put("texts", { path: "/", id: "t0", slot: 2, ...record });
  database.close();
  expect((await listed(library))[1]).toEqual("one nowhere");
});

it("a copy has the text with its last change, options and seed, and a name of its own", async () => {
  const { library, store } = await begin();
  const stored = { ...content("one"), options: { temperature: 2 }, seed: 7, history: { steps: 1 } };
  await store.put("t0", { version: 1, changed: 1, content: stored });
  const change = { from: 3, to: 3, insert: "!" };
  writeLastChange(nameOf("t0"), { version: 1, change, caret: 4, beside: stored });
  await library.duplicate("t0", "one (copy)");
  const copy = (await library.list()).find(({ name }) => name === "one (copy)");
  expect(copy).toMatchObject({ text: "one!", where: "nowhere" });
  const [version] = await store.versions(copy?.id ?? "");
  expect(version?.content).toMatchObject({ options: { temperature: 2 }, seed: 7, history: { steps: 1 } });
});

it("a text that is deleted elsewhere or damaged is not copied, and the error says which it is", async () => {
  const { library, store } = await begin("one", "two");
  await store.remove("t0");
  await expect(library.duplicate("t0", "one (copy)")).rejects.toThrow("another tab has deleted this text");
  await store.put("t1", { version: 2, changed: 2, content: 1 });
  await store.put("t1", { version: 3, changed: 3, content: 1 });
  await expect(library.duplicate("t1", "two (copy)")).rejects.toThrow("the stored text is damaged");
  expect(await listed(library)).toEqual(["The own. here"]);
});

it("a deleted text stays in the store until the deletion is finished", async () => {
  const { library, store, tab } = await begin("one", "two");
  await library.rename("t0", "Name");
  writeLastChange(nameOf("t0"), { version: 1, change: { from: 0, to: 0, insert: "" }, caret: 0 });
  const removal = await library.remove("t0");
  expect(await listed(library)).toEqual(["The own. here", "two nowhere"]);
  expect(held).toContain(nameOf("t0")); // no other tab opens it meanwhile
  await removal?.restore();
  await vi.waitFor(() => expect(held).not.toContain(nameOf("t0")));
  expect(await listed(library)).toEqual(["The own. here", "two nowhere", "Name nowhere"]);
  expect(tab.forget).not.toHaveBeenCalled();
  await (await library.remove("t0"))?.finish();
  expect(tab.forget).toHaveBeenCalledWith("t0");
  expect(await listed(library)).toEqual(["The own. here", "two nowhere"]);
  expect(await store.versions("t0")).toEqual([]);
  expect(await store.name("t0")).toBeUndefined();
  expect(localStorage.length).toBe(0);
});

it("an import adds each new text once, and overwrites nothing", async () => {
  const { library, store } = await begin("one", "two");
  await library.rename("t0", "One");
  const json = await library.exportAll();
  expect(await library.importAll(parseFile(json))).toMatchObject({ added: 0, known: 3 });
  const filed = (text: string, name?: string) => ({ name, changed: 5, content: content(text) });
  const more = [filed("three", "Three"), filed("three", "Three"), filed("two")];
  const { ids, ...counts } = await library.importAll(more);
  expect(counts).toEqual({ added: 1, known: 2 });
  expect(ids).toEqual([ids[0], ids[0], "t1"]);
  expect(await listed(library)).toEqual(["The own. here", "Three nowhere", "two nowhere", "One nowhere"]);
  expect((await store.ids()).length).toBe(4);
});

it("texts with the same letters are different if their branches, writers, names or fields are", async () => {
  const { library } = await begin("one");
  const kept = content("one");
  const other = { id: 1, parent: 0, name: "Other", kept: content("other") };
  const tree = { branches: [{ id: 0, parent: null, name: "First", kept }, other], current: 0 };
  const filed = (more: object, name?: string) => ({ name, changed: 5, content: { ...kept, ...more } });
  const fields = { remember: "x", note: "" };
  const drafts = [filed({ tree }, "Draft"), filed({ tree }, "Copy")];
  const all = [filed({}), ...drafts, filed({ written: [[0, 3]] }), filed({ fields })];
  expect(await library.importAll(all)).toMatchObject({ added: 4, known: 1 });
  expect(await library.importAll(all)).toMatchObject({ added: 0, known: 5 });
});

it("the file contains a text that has fields but no letters", async () => {
  const { library, store } = await begin();
  const fields = { remember: "Max is a dog.", note: "" };
  await store.put("t0", { version: 1, changed: 1, content: { ...content(""), fields } });
  const { texts } = JSON.parse(await library.exportAll()) as { texts: { fields?: object }[] };
  expect(texts.map((each) => each.fields)).toContainEqual(fields);
});

it("a deletion that the browser drops because the page closes is finished by the next page", async () => {
  const { library, store, tab } = await begin("one");
  writeLastChange(nameOf("t0"), { version: 0, change: { from: 0, to: 0, insert: "Old." }, caret: 4 });
  const removal = await library.remove("t0");
  vi.spyOn(store, "remove").mockReturnValueOnce(new Promise(() => undefined));
  void removal?.finish();
  expect(await listed(new Texts(tab))).toEqual(["The own. here"]);
  expect(await store.versions("t0")).toEqual([]);
  expect(localStorage.length).toBe(0);
});

it("a text whose deletion fails stays in the list", async () => {
  const { library, store } = await begin("one");
  vi.spyOn(store, "remove").mockRejectedValueOnce(new DOMException("", "UnknownError"));
  const removal = await library.remove("t0");
  await expect(removal?.finish()).rejects.toThrow();
  expect(await listed(library)).toEqual(["The own. here", "one nowhere"]);
});
