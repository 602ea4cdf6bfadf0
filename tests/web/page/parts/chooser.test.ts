// @vitest-environment happy-dom
// The line that names the model, and the lists of the site's and of stored models, each alone.
import { expect, it, vi } from "vitest";
import { keepModel, removeModel, type Model, type StoredModel } from "../../../../web/src/client/index.js";
import { showModelLine } from "../../../../web/page/parts/chooser/model-line.js";
import { SiteModels } from "../../../../web/page/parts/chooser/site-models.js";
import { showStored } from "../../../../web/page/parts/chooser/stored.js";
import { currentLanguage, wordsOf } from "../../../../web/page/language/translation.js";
import type { ChosenModel } from "../../../../web/page/state/page-state.js";
import { makeState, mountMarkup } from "../../support/page-part.js";

const stored: StoredModel = {
  id: "hf:user/tale@main",
  weights: null,
  bytes: 13e6,
  totalBytes: 13e6,
  isComplete: true,
  isKept: false,
  used: new Date(0),
};

vi.mock(import("../../../../web/src/client/index.js"), async (original) => ({
  ...(await original()),
  listModels: () => Promise.resolve([stored]),
  keepModel: vi.fn(() => Promise.resolve(true)),
  removeModel: vi.fn(() => Promise.resolve(true)),
}));

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
});

const mountLine = () => {
  const ui = mountMarkup("chooser", "modelFacts", "modelOffer", "modelOfferUse", "modelOfferFacts");
  const state = makeState();
  const lookUp = vi.fn();
  showModelLine(ui, state, lookUp);
  return { ui, state, lookUp };
};

it("the line offers GPT-2 while the demo is chosen, and describes another model and the demo after it", () => {
  const { ui, state, lookUp } = mountLine();
  ui.modelOfferUse.click();
  expect(ui.chooser.open).toBe(true);
  expect(lookUp).toHaveBeenCalledWith("openai-community/gpt2");
  const load = (chosen: ChosenModel, parameters: number) => {
    state.chosen.value = chosen;
    const model = { info: { parameters } } as unknown as Model;
    state.model.value = { kind: "ready", model, traffic: { network: 0, cache: 0 } };
    return [ui.modelOffer.hidden, ui.modelFacts.textContent];
  };
  const other = { source: "hf:user/other", name: "user/other" };
  expect(load(other, 355e6)).toEqual([true, ": 355 million parameters"]);
  expect(load(state.first, 12e6)).toEqual([false, ": 12 million parameters, English"]);
});

it.each([
  ["a mouse", true],
  ["a touch screen", false],
])("with %s, the line estimates GPT-2's speed from that of the written text: %s", (_, isFine) => {
  vi.stubGlobal("matchMedia", () => ({ matches: isFine }));
  const { ui, state } = mountLine();
  expect(ui.modelOfferFacts.textContent).not.toContain("tokens/s");
  state.weightsPerSecond.value = 10e9; // GPT-2 has 140 MB of weights in q8
  expect(ui.modelOfferFacts.textContent.includes("about 71 tokens/s here")).toBe(isFine);
});

it.each([
  ["kept", "Keep user/tale", keepModel],
  ["removed", "Remove user/tale", removeModel],
])("the status says why a model could not be %s, also a second time", async (_, label, change) => {
  const ui = mountMarkup("stored", "storedList", "storedStatus", "chooser");
  await showStored(ui, vi.fn());
  const button = [...ui.storedList.querySelectorAll("button")].find(({ ariaLabel }) => ariaLabel === label);
  const sentence = "That did not work: the disk is full.";
  const said: string[] = [];
  const note = () => void said.push(ui.storedStatus.textContent);
  new MutationObserver(note).observe(ui.storedStatus, { childList: true });
  for (const times of [1, 2]) {
    vi.mocked(change).mockRejectedValueOnce(new Error("the disk is full"));
    button?.click();
    await vi.waitFor(() => expect(said.filter((text) => text === sentence)).toHaveLength(times));
  }
  expect(ui.storedStatus.role).toBe("status");
});
