// @vitest-environment happy-dom
// "Save as one file" alone.
import { expect, it, vi } from "vitest";
import type { Model } from "../../../../web/src/client/index.js";
import { offerSaving } from "../../../../web/page/parts/save-file/offer.js";
import { offerSavingWithText } from "../../../../web/page/parts/save-file/with-text.js";
import { isOff, makeState, mountMarkup, settle } from "../../support/page-part.js";

const { save } = vi.hoisted(() => ({ save: vi.fn(async () => {}) }));
vi.mock("../../../../web/page/parts/save-file/saving.js", () => ({ save }));
const ready = { kind: "ready", model: {} as unknown as Model, traffic: { network: 0, cache: 0 } } as const;

it("only a model of this host can be saved, and a failure says why", async () => {
  const ui = mountMarkup("saving", "save", "saveStatus");
  const state = makeState();
  offerSaving(ui, state);
  state.model.value = ready;
  expect(ui.saving.hidden).toBe(true);
  state.model.value = { kind: "none" };
  state.chosen.value = { source: "models/demo/", name: "demo", folder: "models/demo/" };
  state.model.value = ready;
  expect(ui.saving.hidden).toBe(false);
  save.mockRejectedValueOnce(new Error("the disk is full"));
  ui.save.click();
  expect(isOff(ui.save)).toBe(true);
  await settle();
  expect(ui.saveStatus.textContent).toBe("It could not be saved: the disk is full.");
  expect(isOff(ui.save)).toBe(false);
});

it("the second button saves the text, too", async () => {
  const ui = mountMarkup("saving", "save", "saveStatus");
  const state = makeState();
  state.chosen.value = { source: "models/demo/", name: "demo", folder: "models/demo/" };
  state.model.value = ready;
  offerSavingWithText(ui, state, () => "the text");
  ui.save.parentElement?.querySelectorAll("button")[1]?.click();
  await settle();
  expect(save).toHaveBeenLastCalledWith(expect.any(URL), ui.saveStatus, "the text");
});
