// @vitest-environment happy-dom
// The line that names the model, alone.
import { expect, it, vi } from "vitest";
import type { Model } from "../../../../web/src/client/index.js";
import { showModelLine } from "../../../../web/page/parts/chooser/model-line.js";
import { makeState, mountMarkup } from "../../support/page-part.js";

it("the line offers GPT-2 while the demo model is chosen, and describes another model instead", () => {
  const ui = mountMarkup("chooser", "modelTold", "modelOffer", "modelOfferUse", "modelOfferTold");
  const state = makeState();
  const lookUp = vi.fn();
  showModelLine(state, lookUp);
  expect(ui.modelOffer.hidden).toBe(false);
  ui.modelOfferUse.click();
  expect(ui.chooser.open).toBe(true);
  expect(lookUp).toHaveBeenCalledWith("openai-community/gpt2");
  state.chosen.value = { source: "hf:user/other", name: "user/other" };
  state.model.value = {
    kind: "ready",
    model: { info: { parameters: 355e6 } } as unknown as Model,
    traffic: { network: 0, cache: 0 },
  };
  expect(ui.modelOffer.hidden).toBe(true);
  expect(ui.modelTold.textContent).toBe(": 355 million parameters");
});
