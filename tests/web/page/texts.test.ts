// @vitest-environment happy-dom
// The library of the page's texts, with the real tab and store.
import { beforeEach, expect, it, vi } from "vitest";
import { writeLastChange } from "../../../web/page/library/last-change.js";
import { parseFile } from "../../../web/page/library/text-file.js";
import { Texts } from "../../../web/page/library/texts.js";
import {
  beginBrowser,
  content,
  lockOf,
  locks,
  openTab,
  putRows,
  rowsOf,
  soon,
} from "../support/text-tabs.js";

beforeEach(beginBrowser);

/** A tab that shows "The own.", which was changed last, and the library of the stored texts t0, t1, ... */
async function begin(...texts: string[]) {
  const { tab, type } = await openTab();
  type("The own.");
  await tab.storeWhole();
  const store = await tab.openStore();
  const put = (id: string, version: number, text: object) =>
    store.put([{ id, version, changed: Number(id.slice(1)) + 1, name: undefined, content: text }]);
  for (const [place, text] of texts.entries()) await put(`t${place}`, 1, content(text));
  return { store, tab, put, library: new Texts(tab) };
}

/** Each text by its name or words, with the tab that shows it. */
const listed = async (library: Texts) =>
  (await library.list()).map(({ name, text, where }) => `${name ?? text} ${where}`);

it("the library lists all texts, the last changed one first, and which tab shows each", async () => {
  const { library } = await begin("one", "two", "three");
  locks.add(lockOf("t1"));
  expect(await listed(library)).toEqual(["The own. here", "three nowhere", "two elsewhere", "one nowhere"]);
});

it("a name is one line, and an empty one removes it", async () => {
  const { library, tab, store } = await begin("one");
  await library.rename("t0", "  A\nname ");
  expect(tab.name.value).toBeUndefined();
  await library.rename(tab.id ?? "", "Mine");
  expect(tab.name.value).toBe("Mine"); // the tab's title
  expect(await listed(library)).toEqual(["Mine here", "A name nowhere"]);
  expect(await store.read("t0")).toMatchObject({ kept: content("one") });
  await library.rename("t0", " ");
  expect((await listed(library))[1]).toEqual("one nowhere");
});

it("a copy has the text with its last change, options and seed, and a name of its own", async () => {
  const { library, put, store } = await begin();
  const stored = { ...content("one"), options: { temperature: 2 }, seed: 7, history: { steps: 1 } };
  await put("t0", 1, stored);
  const change = { from: 3, to: 3, insert: "!" };
  writeLastChange("t0", { version: 1, change, caret: 4, beside: stored });
  await library.duplicate("t0", "one (copy)");
  const copy = (await library.list()).find(({ name }) => name === "one (copy)");
  expect(copy).toMatchObject({ text: "one!", where: "nowhere" });
  expect(await store.read(copy?.id ?? "")).toMatchObject({
    beside: { options: { temperature: 2 }, seed: 7, history: { steps: 1 } },
  });
});

it("a text that is deleted elsewhere or damaged is not copied, and the error says which it is", async () => {
  const { library, store } = await begin("one", "two");
  await store.remove("t0");
  await expect(library.duplicate("t0", "one (copy)")).rejects.toThrow("another tab has deleted this text");
  await putRows({ id: "t1", version: 2, changed: 2, content: 1 });
  await expect(library.duplicate("t1", "two (copy)")).rejects.toThrow("the stored text is damaged");
  expect(await listed(library)).toEqual(["The own. here"]);
});

it("a deleted text stays in the store until the deletion is finished", async () => {
  const { library } = await begin("one", "two");
  await library.rename("t0", "Name");
  writeLastChange("t0", { version: 1, change: { from: 0, to: 0, insert: "" }, caret: 0 });
  const removal = await library.remove("t0");
  expect(await listed(library)).toEqual(["The own. here", "two nowhere"]);
  expect(locks).toContain(lockOf("t0")); // no other tab opens it meanwhile
  await removal?.restore();
  await soon();
  expect(await listed(library)).toEqual(["The own. here", "two nowhere", "Name nowhere"]);
  await (await library.remove("t0"))?.finish();
  expect(await listed(library)).toEqual(["The own. here", "two nowhere"]);
  expect(await rowsOf("t0")).toEqual([]);
  expect(localStorage.length).toBe(0);
});

it("a new text replaces a deleted one that is open, and Undo opens that again", async () => {
  const { library, tab } = await begin();
  const { id = "" } = tab;
  const removal = await library.remove(id);
  expect([tab.id === id, tab.text]).toEqual([false, ""]);
  await removal?.restore();
  expect([tab.id === id, tab.text]).toEqual([true, "The own."]);
});

it("a deletion that the browser drops because the page closes is finished by the next page", async () => {
  const { library, store, tab } = await begin("one");
  writeLastChange("t0", { version: 0, change: { from: 0, to: 0, insert: "Old." }, caret: 4 });
  const removal = await library.remove("t0");
  vi.spyOn(store, "remove").mockReturnValueOnce(new Promise(() => undefined));
  void removal?.finish();
  expect(await listed(new Texts(tab))).toEqual(["The own. here"]);
  expect(await rowsOf("t0")).toEqual([]);
  expect(localStorage.length).toBe(0);
});

it("a text whose deletion fails stays in the list", async () => {
  const { library, store } = await begin("one");
  vi.spyOn(store, "remove").mockRejectedValueOnce(new DOMException("", "UnknownError"));
  const removal = await library.remove("t0");
  await expect(removal?.finish()).rejects.toThrow();
  expect(await listed(library)).toEqual(["The own. here", "one nowhere"]);
});

it("a replaced text that could not be stored is listed as it was, and can be deleted", async () => {
  const { library, tab, store } = await begin();
  const put = vi.spyOn(store, "put").mockRejectedValue(new DOMException("", "UnknownError"));
  const { id = "" } = tab;
  tab.noteChange();
  tab.setAside();
  await soon();
  expect((await listed(library)).sort()).toEqual(["The own. here", "The own. nowhere"]);
  await (await library.remove(id))?.restore();
  expect(locks).toContain(lockOf(id)); // it still waits to be stored
  await (await library.remove(id))?.finish();
  expect(await listed(library)).toEqual(["The own. here"]);
  expect(locks).not.toContain(lockOf(id));
  put.mockRestore();
  expect(await rowsOf(id)).toEqual([]);
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
  const { library, put } = await begin();
  const fields = { remember: "Max is a dog.", note: "" };
  await put("t0", 1, { ...content(""), fields });
  const { texts } = JSON.parse(await library.exportAll()) as { texts: { fields?: object }[] };
  expect(texts.map((each) => each.fields)).toContainEqual(fields);
});
