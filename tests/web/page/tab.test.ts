// @vitest-environment happy-dom
// A tab whose text the store refuses, with the real store.
import "fake-indexeddb/auto";
import { expect, it, vi } from "vitest";
import type { Surface } from "../../../web/page/document/surface.js";
import { TextStore } from "../../../web/page/library/store.js";
import { Tab } from "../../../web/page/library/tab.js";

it("a text that is set aside unstored is the one to save, until it is deleted", async () => {
  const request = (_: string, __: object, hold: (lock: object) => unknown) => Promise.resolve(hold({}));
  vi.stubGlobal("navigator", { locks: { request } });
  const shown = { text: "Once upon a time" };
  const kept = () => ({ text: shown.text, caret: 0, written: [] });
  const surface = {
    get kept() {
      return kept();
    },
    get keptWithHistory() {
      return kept();
    },
    typeInField: () => undefined,
    restore: () => Promise.resolve(),
  } as unknown as Surface;
  const showFailure = vi.fn();
  const showStored = vi.fn();
  const field = Object.assign(document.createElement("textarea"), { defaultValue: shown.text });
  const beside = { read: () => ({}), show: () => undefined };
  const tab = new Tab({ surface, field, beside, showFailure, showStored, showDamage: () => undefined });
  await tab.keep();
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
