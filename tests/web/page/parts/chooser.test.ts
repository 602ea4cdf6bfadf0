// @vitest-environment happy-dom
// The line that names the model, the list of the site's models, and the question about another host, each alone.
import { expect, it, vi } from "vitest";
import type { Model } from "../../../../web/src/client/index.js";
import { questionOfOtherHost } from "../../../../web/page/parts/chooser/choice.js";
import { showModelLine } from "../../../../web/page/parts/chooser/model-line.js";
import { SiteModels } from "../../../../web/page/parts/chooser/site-models.js";
import { currentLanguage, wordsOf } from "../../../../web/page/language/translation.js";
import type { ChosenModel } from "../../../../web/page/state/page-state.js";
import { makeState, mountMarkup } from "../../support/page-part.js";

it("the demo is listed by its name in the page's language, other models by the name that the owner gave them", async () => {
  const ui = mountMarkup("siteModels", "siteModelsList");
  const list = [
    { folder: "demo", name: "Demo, children's stories", parameters: 12e6, bytes: 13e6 },
    { folder: "poems", name: "Poems", parameters: 12e6, bytes: 13e6 },
  ];
  vi.stubGlobal("fetch", () => Promise.resolve(Response.json(list)));
  const chosen: string[] = [];
  await new SiteModels(ui, makeState(), ({ name }) => chosen.push(name)).show();
  const buttons = [...ui.siteModelsList.querySelectorAll("button")];
  const names = () => buttons.map(({ textContent }) => textContent.split(":")[0]);
  expect(names()).toEqual(["Demo, children's stories", "Poems"]);
  currentLanguage.value = { language: "de", words: await wordsOf("de") };
  expect(names()).toEqual(["Demo, Kindergeschichten", "Poems"]);
  for (const button of buttons) button.click();
  expect(chosen).toEqual(["Demo, Kindergeschichten", "Poems"]);
  currentLanguage.value = { language: "en", words: undefined };
  vi.unstubAllGlobals();
});

it("the line describes the demo model again after another one", () => {
  const ui = mountMarkup("chooser", "modelFacts", "modelOffer", "modelOfferUse", "modelOfferFacts");
  const state = makeState();
  showModelLine(ui, state, vi.fn());
  const load = (chosen: ChosenModel, parameters: number) => {
    state.chosen.value = chosen;
    const model = { info: { parameters } } as unknown as Model;
    state.model.value = { kind: "ready", model, traffic: { network: 0, cache: 0 } };
  };
  load({ source: "hf:user/other", name: "user/other" }, 355e6);
  expect(ui.modelFacts.textContent).toBe(": 355 million parameters");
  load(state.first, 12e6);
  expect(ui.modelFacts.textContent).toBe(": 12 million parameters");
});

it("the line offers GPT-2 while the demo model is chosen, and describes another model instead", () => {
  const ui = mountMarkup("chooser", "modelFacts", "modelOffer", "modelOfferUse", "modelOfferFacts");
  const state = makeState();
  const lookUp = vi.fn();
  showModelLine(ui, state, lookUp);
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
  expect(ui.modelFacts.textContent).toBe(": 355 million parameters");
});

it("the question about another host takes the focus only when the visitor needs the model", () => {
  const ui = mountMarkup("chooser", "hubId", "hubStatus");
  const model = { source: "hf:user/tale", name: "user/tale", elsewhere: "huggingface.co" };
  const ask = questionOfOtherHost(ui, model);
  ask();
  expect(ui.hubStatus.textContent).toContain("asks for user/tale, which is on huggingface.co");
  expect(document.activeElement).toBe(document.body);
  ui.chooser.open = false;
  ui.hubStatus.textContent = ""; // the visitor has typed another name
  ask();
  expect(ui.chooser.open).toBe(true);
  expect(document.activeElement).toBe(ui.hubId);
});
