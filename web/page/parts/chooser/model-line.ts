// The line under the title: the name of the model, and an offer to use GPT-2 itself while the demo model is loaded.
import { onPress } from "../../dom/buttons.js";
import type { Elements } from "../../dom/elements.js";
import { formatLarge } from "../../language/quantities.js";
import { phrase } from "../../language/models.js";
import { setTranslatedText } from "../../language/keep-translated.js";
import { languageOf } from "../../models/language.js";
import { isDemo } from "../../models/model-address.js";
import { releases, weightBytesOf } from "../../models/estimate.js";
import { expectedRate } from "../../models/expectation.js";
import { onChange, type PageState } from "../../state/page-state.js";

export type LineElements = Pick<
  Elements,
  "chooser" | "modelFacts" | "modelOffer" | "modelOfferUse" | "modelOfferFacts"
>;

/** Whether the line still describes the demo model, as index.html does. */
const isAsItCame = (ui: LineElements) => ui.modelFacts.hasAttribute("data-phrase");

/** Describes the loaded model. */
function describeModel(ui: LineElements, state: PageState): void {
  ui.modelFacts.removeAttribute("data-phrase");
  const { parameters } = state.loaded.peek()?.info ?? {};
  const isEnglish = languageOf(state.chosen.peek()) === "en";
  setTranslatedText(ui.modelFacts, () => {
    if (!parameters) return "";
    const count = phrase("count", { value: formatLarge(parameters) });
    return `: ${isEnglish ? phrase("inEnglish", { count }) : count}`;
  });
}

/** Adds the expected speed of GPT-2. On touch screens the line has no room for it. */
function showSpeed(ui: LineElements, state: PageState): void {
  const [gpt2] = releases;
  const rate = gpt2 && expectedRate(state, weightBytesOf(gpt2.parameters, "q8"));
  if (!rate || !matchMedia("(pointer: fine)").matches) return;
  ui.modelOfferFacts.removeAttribute("data-phrase");
  setTranslatedText(ui.modelOfferFacts, () => phrase("gpt2Expected", { rate: rate() }));
}

/** `lookUp` is called with the id of GPT-2 when the visitor asks for it. */
export function showModelLine(ui: LineElements, state: PageState, lookUp: (id: string) => void): void {
  const [gpt2] = releases;
  state.chosen.subscribe(() => {
    ui.modelOffer.hidden = !isDemo(state.chosen.peek());
  });
  state.loaded.subscribe(() => {
    if (!isDemo(state.chosen.peek()) || !isAsItCame(ui)) describeModel(ui, state);
  });
  ui.modelOffer.classList.remove("later");
  onPress(ui.modelOfferUse, () => {
    ui.chooser.open = true;
    if (gpt2) lookUp(gpt2.id);
  });
  onChange(state.weightsPerSecond, () => showSpeed(ui, state));
}
