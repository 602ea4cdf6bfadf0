// @vitest-environment happy-dom
// The example of a first visit, alone.
import { beforeEach, expect, it, vi } from "vitest";
import type { Surface } from "../../../../web/page/document/surface.js";
import { welcome } from "../../../../web/page/parts/first-visit/first-visit.js";
import { makeState, mountMarkup, settle } from "../../support/page-part.js";

beforeEach(() => {
  localStorage.clear();
  vi.spyOn(performance, "now").mockReturnValue(10_000); // the page has been open for long
});

it("the example stays visible until the visitor chooses another model", async () => {
  const ui = mountMarkup("form", "inside", "draft", "generate");
  const state = makeState();
  const surface = { kept: { text: "", caret: 0, written: [] } } as unknown as Surface;
  const goOnWith = vi.fn();
  await welcome({ ui, state, surface, goOnWith, speak: vi.fn() });
  const example = document.querySelector<HTMLElement>("#example");
  expect(example?.hidden).toBe(false);
  example?.querySelector("button")?.click();
  expect(goOnWith).toHaveBeenCalledTimes(1);
  state.chosen.value = { source: "hf:user/other", name: "user/other" };
  await settle();
  expect(example?.hidden).toBe(true);
});
