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

/**
 * Adds the expected speed of GPT-2. Measuring reads as much memory as a model takes. So it waits until the visitor points at
 * the offer or, on a computer with memory to spare, has seen the demo write.
 */
async function showSpeed(ui: LineElements, state: PageState): Promise<void> {
  const [gpt2] = releases;
  const rate = gpt2 && (await expectedRate(state, weightBytesOf(gpt2.parameters, "q8")));
  if (!rate) return;
  ui.modelOfferFacts.removeAttribute("data-phrase");
  setTranslatedText(ui.modelOfferFacts, () => phrase("gpt2Expected", { rate: rate() }));
}

/**
 * Whether the device has memory to measure with, and the line has room for the result. Some browsers do not state the memory:
 * there it counts as small. On touch screens the line is short.
 */
const hasRoom = (): boolean => {
  const { deviceMemory = 0 } = navigator as { deviceMemory?: number };
  return deviceMemory >= 4 && matchMedia("(pointer: fine)").matches;
};

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
  if (hasRoom())
    onChange(state.activity, ({ kind }) => {
      if (kind === "idle") void showSpeed(ui, state);
    });
  for (const interest of ["pointerenter", "focusin"])
    ui.modelOffer.addEventListener(interest, () => void showSpeed(ui, state));
}
