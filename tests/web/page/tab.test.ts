// @vitest-environment happy-dom
// A tab whose text the store takes late or refuses, with the real store.
import "fake-indexeddb/auto";
import { signal } from "@preact/signals-core";
import { expect, it, vi } from "vitest";
import type { Surface } from "../../../web/page/document/surface.js";
import { TextStore } from "../../../web/page/library/store.js";
import { nameOf, Tab } from "../../../web/page/library/tab.js";
import { showTitle } from "../../../web/page/parts/status/title.js";

/** A tab that shows `shown.text`. `released` has the names of the locks that it gave up. */
async function openTab() {
  const released: string[] = [];
  const request = (name: string, _: object, hold: (lock: object) => Promise<void>) =>
    Promise.resolve(hold({})).then(() => void released.push(name));
  vi.stubGlobal("navigator", { locks: { request } });
  const shown = { text: "Once upon a time", caret: 0, written: [] };
  const surface = {
    kept: shown,
    keptWithHistory: shown,
    restore: async () => {},
    need: async () => {},
  } as unknown as Surface;
  const showFailure = vi.fn();
  const showStored = vi.fn();
  const field = Object.assign(document.createElement("textarea"), { defaultValue: shown.text });
  const beside = { read: () => ({}), show: () => undefined };
  const tab = new Tab({ surface, field, beside, showFailure, showStored, showDamage: () => undefined });
  await tab.keep();
  await new Promise((later) => setTimeout(later));
  return { tab, shown, released, showFailure, showStored };
}

it("a replaced text that could not be stored is offered as a file, until it is deleted", async () => {
  const { tab, shown, showFailure, showStored } = await openTab();
  vi.spyOn(TextStore.prototype, "put").mockRejectedValue(new DOMException("", "UnknownError"));
  const { id } = tab;
  shown.text = "A whale.";
  tab.noteChange();
  tab.setAside();
  shown.text = "An opening.";
  await vi.waitFor(() => expect(showFailure).toHaveBeenCalledTimes(1));
  expect(tab.unstoredTexts).toEqual(["A whale."]);
  await expect(tab.storeWhole()).rejects.toThrow();
  expect(tab.unstoredTexts).toEqual(["An opening.", "A whale."]);
  tab.forget(id ?? "");
  expect(tab.unstoredTexts).toEqual(["An opening."]);
  expect(showStored).not.toHaveBeenCalled();
});

it("no other tab can take a replaced text before it is stored", async () => {
  const { tab, shown, released } = await openTab();
  let finish = () => {};
  vi.spyOn(TextStore.prototype, "put").mockReturnValue(new Promise<void>((stored) => (finish = stored)));
  const { id } = tab;
  shown.text = "A whale.";
  tab.noteChange();
  tab.setAside();
  await new Promise((later) => setTimeout(later));
  expect(released).not.toContain(nameOf(id ?? ""));
  finish();
  await vi.waitFor(() => expect(released).toContain(nameOf(id ?? "")));
});

it("a tab shows the name of its text, also after another tab renamed it, and a new text has none", async () => {
  const { tab } = await openTab();
  const store = await tab.openStore();
  await tab.storeWhole();
  document.title = "";
  showTitle({ text: signal(0) }, tab.name, () => "Once upon");
  const titled = (title: string) => vi.waitFor(() => expect(document.title).toBe(title));
  await titled("Once upon – GPT-2");
  for (const name of ["Whale", "Elephant"]) {
    await store.rename(tab.id ?? "", name);
    document.dispatchEvent(new Event("visibilitychange"));
    await titled(`${name} – GPT-2`);
  }
  await tab.open();
  await titled("Once upon – GPT-2");
});

it("a text counts as stored only once texts can be read", async () => {
  const ids = vi.spyOn(TextStore.prototype, "ids").mockRejectedValue(new DOMException("", "NotFoundError"));
  const { tab, shown, showFailure, showStored } = await openTab();
  expect(showFailure).toHaveBeenCalledTimes(1);
  for (const times of [0, 1]) {
    shown.text += ".";
    tab.noteChange();
    await tab.storeWhole();
    await new Promise((later) => setTimeout(later, 20));
    expect(showStored).toHaveBeenCalledTimes(times);
    ids.mockRestore();
  }
});

it("a write that never settles fails, so that it is tried again", async () => {
  const store = await TextStore.open("/", () => undefined);
  vi.useFakeTimers();
  vi.spyOn(IDBDatabase.prototype, "transaction").mockReturnValue({
    store: { put: () => Promise.resolve() },
    commit: () => {},
    done: new Promise(() => {}),
  } as never);
  const putting = store.put("a", { version: 1, changed: 1, content: "" });
  const refused = expect(putting).rejects.toMatchObject({ name: "TimeoutError" });
  await vi.advanceTimersByTimeAsync(15_000);
  await refused;
  vi.useRealTimers();
});
