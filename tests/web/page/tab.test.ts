// @vitest-environment happy-dom
// Tabs and their texts in one store: what each shows, stores and leaves to the others.
import { signal } from "@preact/signals-core";
import { beforeEach, expect, it, vi } from "vitest";
import { Editor } from "../../../web/page/document/editor.js";
import type { KeptText } from "../../../web/page/document/kept-text.js";
import { Surface } from "../../../web/page/document/surface.js";
import { Texts } from "../../../web/page/library/texts.js";
import { dropTyped, keepTyped, readTyped } from "../../../web/page/library/typed.js";
import { TextStore } from "../../../web/page/library/store.js";
import { tellName } from "../../../web/page/library/tab.js";
import { showTitle } from "../../../web/page/parts/status/title.js";
import {
  beginBrowser,
  content,
  firstText,
  lockOf,
  locks,
  openTab,
  putRows,
  rowsOf,
  soon,
} from "../support/text-tabs.js";

const evictOne = vi.hoisted(() => vi.fn(() => Promise.resolve(false)));
vi.mock("../../../web/src/model/store/models.js", () => ({ evictOne }));

beforeEach(beginBrowser);

/** What the database has of a text. */
const storedText = async (id: string | undefined) =>
  (await rowsOf(id ?? "")).map((row) => (row.content as { text: string }).text);

/** Opens a tab that has stored `text`. */
async function openWith(text: string) {
  const opened = await openTab();
  opened.type(text);
  await opened.tab.storeWhole();
  return { ...opened, id: opened.tab.id ?? "" };
}

/** A disk that is full. Returns a function that makes room. */
function fillDisk(): () => void {
  const full = vi.spyOn(IDBObjectStore.prototype, "put").mockImplementation(() => {
    throw new DOMException("", "QuotaExceededError");
  });
  return () => full.mockRestore();
}

/** A tab that could not store the text "A whale." before an opening replaced it, and so shows `id`. */
async function replaceUnstored() {
  const makeRoom = fillDisk();
  const opened = await openTab();
  opened.type("A whale.");
  const { id = "" } = opened.tab;
  opened.tab.setAside();
  opened.type("An opening.");
  await vi.waitFor(() => expect(opened.showFailure).toHaveBeenCalledTimes(1));
  return { ...opened, makeRoom, id };
}

it("a replaced text that could not be stored is offered as a file, until it is deleted", async () => {
  const { tab, id, showStored } = await replaceUnstored();
  expect(tab.unstoredTexts).toEqual(["A whale."]);
  await expect(tab.storeWhole()).rejects.toThrow();
  expect(tab.unstoredTexts).toEqual(["An opening.", "A whale."]);
  tab.forget(id);
  expect(tab.unstoredTexts).toEqual(["An opening."]);
  expect(showStored).not.toHaveBeenCalled();
});

it("a replaced text is stored every five seconds until there is room, and only then another tab may have it", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout"], shouldAdvanceTime: true });
  const { tab, id, makeRoom, showStored, showFailure } = await replaceUnstored();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(showFailure.mock.calls.length).toBeGreaterThan(2);
  expect(locks).toContain(lockOf(id));
  makeRoom();
  await vi.advanceTimersByTimeAsync(10_000);
  await vi.waitFor(() => expect(showStored).toHaveBeenCalled());
  expect(await storedText(id)).toEqual(["A whale."]);
  expect(await storedText(tab.id)).toEqual(["An opening."]);
  expect(locks).not.toContain(lockOf(id));
  expect(tab.unstoredTexts).toEqual(["An opening."]);
});

it("a replaced text that could not be stored opens again whole", async () => {
  const { tab, id, makeRoom, shown } = await replaceUnstored();
  makeRoom();
  expect(await tab.open(id)).toBe(true);
  expect(shown()).toBe("A whale.");
  await tab.storeWhole();
  expect(await storedText(id)).toEqual(["A whale."]);
  expect(locks).toContain(lockOf(id));
});

it("a tab shows and stores the name of its text, also after another tab renamed it, and a new text has none", async () => {
  const { tab, id, fire } = await openWith("A whale.");
  document.title = "";
  showTitle({ text: signal(0) }, tab.name, () => "Once upon");
  const titled = (title: string) => expect(document.title).toBe(`${title} – GPT-2`);
  titled("Once upon");
  const setItem = vi
    .spyOn(localStorage, "setItem")
    .mockImplementation((key, newValue) => fire("storage", { key, newValue }));
  for (const name of ["Whale", "Elephant"]) {
    await (await tab.openStore()).rename(id, name);
    tellName(id, name);
    titled(name);
    await tab.storeWhole();
    expect(await rowsOf(id)).toMatchObject([{ name, content: content("A whale.") }]);
  }
  setItem.mockRestore();
  await tab.open();
  titled("Once upon");
});

it("a text counts as stored only once texts can be read", async () => {
  const ids = vi.spyOn(TextStore.prototype, "ids").mockRejectedValue(new DOMException("", "NotFoundError"));
  const { tab, type, showFailure, showStored } = await openTab();
  expect(showFailure).toHaveBeenCalledTimes(1);
  for (const times of [0, 1]) {
    type(".");
    await tab.storeWhole();
    await soon();
    expect(showStored).toHaveBeenCalledTimes(times);
    ids.mockRestore();
  }
});

it("a passing fault of the storage replaces no text", async () => {
  const { id, fire } = await openWith("A whale.");
  fire("pagehide");
  const open = vi.spyOn(TextStore, "open").mockRejectedValue(new DOMException("", "UnknownError"));
  const failing = await openTab(id);
  expect(failing.shown()).toBe(firstText);
  failing.type("A dog.");
  open.mockRestore();
  failing.fire("pagehide");
  await soon();
  expect((await openTab(id)).shown()).toBe("A whale.");
});

it("text that is typed while the stored texts cannot be read is left to the next page", async () => {
  vi.spyOn(TextStore, "open").mockReturnValue(new Promise(() => undefined)); // never answers
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  const opening = openTab();
  await vi.runAllTimersAsync();
  const { type, fire, showFailure } = await opening;
  expect(showFailure).toHaveBeenCalledTimes(1);
  type("A whale.");
  fire("pagehide");
  expect(readTyped()).toBe("A whale.");
});

it("what you type before the stored text is read is inserted at its caret, and Undo removes it", async () => {
  const field = Object.assign(document.createElement("textarea"), { defaultValue: firstText });
  const nothing = () => undefined;
  const bring = () =>
    Promise.resolve((kept: KeptText) => {
      const edges = { tabs: field, dock: field };
      const told = { modelsLanguage: () => "" as const, onUpdate: nothing, onBegin: nothing };
      const editor = new Editor(kept, { parent: field, edges, fields: signal(), ...told });
      editor.type(kept);
      return editor;
    });
  const surface = new Surface({ field, parent: field, bring, onChange: nothing });
  field.value += " It purred.";
  await surface.restore(content("A cat."));
  expect(field.value).toBe("A cat. It purred.");
  const editor = await surface.need();
  expect(editor.kept).toMatchObject({ text: "A cat. It purred.", caret: 17 });
  editor.undo();
  expect(editor.text).toBe("A cat.");
});

it("a page that is hidden stores its text at once, and the next page has it even if the database drops it", async () => {
  const { tab, id, type, fire } = await openWith("A whale.");
  type("A whale sang.");
  Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
  fire("visibilitychange");
  await soon();
  expect(await storedText(id)).toEqual(["A whale sang."]);
  vi.spyOn(TextStore.prototype, "put").mockReturnValue(new Promise(() => undefined));
  type("A whale slept.");
  fire("pagehide");
  expect(await storedText(id)).toEqual(["A whale sang."]);
  const next = await openTab(id);
  expect([next.tab.id, next.shown()]).toEqual([id, "A whale slept."]);
  expect(tab.id).toBe(id);
});

it("two tabs have separate texts, and a duplicated tab has a copy; none overwrites another", async () => {
  const first = await openWith("A cat.");
  const other = await openTab();
  expect(other.shown()).toBe(firstText);
  other.type("A dog.");
  const twin = await openTab(first.id);
  expect(twin.shown()).toBe("A cat.");
  twin.type("A copy.");
  first.type("The first.");
  for (const { tab, shown } of [first, other, twin]) {
    await tab.storeWhole();
    expect(await storedText(tab.id)).toEqual([shown()]);
  }
});

it("a page from the browser's cache shows what another tab changed; what is typed there at once is a text of its own", async () => {
  const { tab, id, type, shown, fire } = await openWith("A cat.");
  for (const [text, typed] of [
    ["A cat slept.", undefined],
    ["A cat woke.", "A cat ran."],
  ] as const) {
    fire("pagehide");
    const other = await openTab();
    expect(other.tab.id).toBe(id);
    for (const more of ["", text]) {
      other.type(more);
      await other.tab.storeWhole();
    }
    other.fire("pagehide");
    await soon();
    fire("pageshow", { persisted: true });
    if (typed !== undefined) type(typed);
    await vi.waitUntil(() => tab.id);
    await vi.waitFor(() => expect([tab.id === id, shown()]).toEqual([typed === undefined, typed ?? text]));
  }
  await tab.storeWhole();
  expect(await storedText(tab.id)).toEqual(["A cat ran."]);
  expect(await storedText(id)).toEqual(["A cat woke."]);
});

it("a tab whose text is damaged says so, and begins another one beside it", async () => {
  const { id, fire } = await openWith("A cat.");
  fire("pagehide");
  await soon();
  await putRows({ id, version: 2, changed: 1, content: 1 });
  const { tab, type, showDamage } = await openTab(id);
  expect(showDamage).toHaveBeenCalledWith("damagedText");
  type("Anew.");
  await tab.storeWhole();
  expect(await rowsOf(id)).toMatchObject([{ content: 1 }]);
  expect(await storedText(tab.id)).toEqual(["Anew."]);
});

it("while a full device makes room, a version that a later one has replaced is not stored", async () => {
  const { tab, type, id } = await openWith("one");
  let refused = 0;
  const put = vi.spyOn(IDBObjectStore.prototype, "put").mockImplementation(function (this: IDBObjectStore) {
    if (refused++ === 0) throw new DOMException("", "QuotaExceededError");
    put.mockRestore();
    return this.put({ path: "/", id: "other", slot: 0 });
  });
  let makeRoom = (_made: boolean) => {};
  evictOne.mockImplementationOnce(() => new Promise((resolve) => (makeRoom = resolve)));
  type("two");
  const storing = tab.storeWhole();
  await vi.waitFor(() => expect(evictOne).toHaveBeenCalled());
  put.mockRestore();
  type("three");
  await tab.storeWhole();
  makeRoom(true);
  await storing;
  await soon();
  expect(await storedText(id)).toEqual(["three"]);
});

it("a page that comes back stores what failed to be stored while it was left", async () => {
  const { fire, type, id } = await openWith("one");
  let fail = () => {};
  const put = vi.spyOn(TextStore.prototype, "put");
  put.mockImplementationOnce(() => new Promise((_, reject) => (fail = () => reject(new Error("closed")))));
  type("two");
  fire("pagehide");
  fire("pageshow", { persisted: true });
  fail();
  await vi.waitFor(async () => expect(await storedText(id)).toEqual(["two"]));
  put.mockRestore();
});

it("words that a hidden page has kept are read by the same tab, and what another page has left stays", () => {
  localStorage.setItem("gpt2-typed /", "of another page");
  keepTyped("hidden", false);
  expect(readTyped()).toBe("hidden");
  dropTyped("hidden");
  expect(readTyped()).toBe("of another page");
  keepTyped("closed", true);
  expect(readTyped()).toBe("closed");
  dropTyped("closed");
  expect(readTyped()).toBeUndefined();
});

it("a text that waits to be stored keeps the name that the library gives it", async () => {
  const { tab, id, makeRoom } = await replaceUnstored();
  await new Texts(tab).rename(id, "Whales").catch(() => undefined); // the device is full
  makeRoom();
  await vi.waitFor(async () => expect(await rowsOf(id)).toMatchObject([{ name: "Whales" }]), 20_000);
});
