// @vitest-environment happy-dom
// The buttons below the text, each group alone.
import { expect, it, vi } from "vitest";
import { offerAlternatives } from "../../../../web/page/parts/bar/alternatives.js";
import { offerBar } from "../../../../web/page/parts/bar/bar.js";
import { offerCopying } from "../../../../web/page/parts/bar/copy.js";
import { isOff, makeState, mountMarkup, pressKey, settle } from "../../support/page-part.js";

it("Write on becomes Stop while the model writes, and the other buttons are off", () => {
  const ui = mountMarkup(
    ...(["generate", "openings", "continue", "regenerate", "copy", "share", "undo", "redo"] as const),
  );
  const state = makeState();
  const surface = { current: undefined, kept: { text: "Once", caret: 4, written: [] } };
  const writing = { write: vi.fn(), stop: vi.fn(async () => {}) };
  const beginWith = vi.fn();
  offerBar({ ui, state, surface, writing, beginWith });
  ui.generate.click();
  expect(writing.write).toHaveBeenCalledTimes(1);
  state.activity.value = { kind: "writing", stop: async () => {} };
  expect(ui.generate.textContent).toBe("Stop");
  expect([isOff(ui.continue), isOff(ui.copy)]).toEqual([true, false]);
  ui.generate.click();
  expect(writing.stop).toHaveBeenCalledTimes(1);
  ui.openings.querySelector("button")?.click();
  expect(beginWith).not.toHaveBeenCalled();
  state.activity.value = { kind: "idle" };
  ui.openings.querySelector("button")?.click();
  expect(beginWith).toHaveBeenCalledWith("Once upon a time");
});

it("the alternatives' buttons show which of how many is in the text, and keys choose another", () => {
  const ui = mountMarkup("alternatives", "alternative", "earlier", "later", "generate", "editor");
  const state = makeState();
  const shown = { place: 0, count: 3 };
  const showAlternative = vi.fn((by: 1 | -1) => {
    shown.place += by;
    return true;
  });
  offerAlternatives(ui, state, { alternative: shown, showAlternative });
  expect(ui.alternatives.hidden).toBe(false);
  expect(ui.alternative.textContent).toBe("1/3");
  pressKey(document, "PageDown", { altKey: true });
  expect(state.status.value()).toBe("Text 2 of 3.");
  state.activity.value = { kind: "writing", stop: async () => {} };
  pressKey(document, "PageDown", { altKey: true });
  expect(showAlternative).toHaveBeenCalledTimes(1);
});

it("Copy selects the text for the visitor where the page may not use the clipboard", async () => {
  const ui = mountMarkup("copy");
  const state = makeState();
  const selectAll = vi.fn();
  vi.stubGlobal("navigator", { clipboard: { writeText: () => Promise.reject(new Error("denied")) } });
  ui.copy.removeAttribute("aria-disabled");
  offerCopying(ui, state, { text: "Once", selectAll });
  ui.copy.click();
  await settle();
  expect(selectAll).toHaveBeenCalledTimes(1);
  expect(state.status.value()).toMatch(/^This page may not use the clipboard/);
  vi.unstubAllGlobals();
});
