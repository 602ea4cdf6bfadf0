// Whether the visitor has chosen the model in the page's address, and the question if not.
import type { Elements } from "../../dom/elements.js";
import { pageAddress, viewOf } from "../../dom/view-address.js";
import { phrase } from "../../language/models.js";
import { setTranslatedText } from "../../language/keep-translated.js";
import { addressOf } from "../../models/model-address.js";
import type { ChosenModel } from "../../state/page-state.js";
import { readStored, writeStored } from "../../state/storage.js";

/**
 * Stores the choice for this visit, so that a reload does not ask again. The key has the path, because other pages of
 * the host share the storage.
 */
const choiceKey = `gpt2-model ${location.pathname}`;

export function rememberChoice(query: string): void {
  history.replaceState(null, "", (query || pageAddress()) + viewOf(location.hash));
  writeStored("sessionStorage", choiceKey, query);
}

/** Whether the visitor chose the model in the page's address. */
export const isAddressChosen = (): boolean => readStored("sessionStorage", choiceKey) === location.search;

/**
 * Returns the question that the page asks before it contacts a host that only its address names: someone else may have
 * made that link. If it is asked a second time, the visitor needs the model, so the field of the question gets the focus.
 */
export function questionOfOtherHost(
  ui: Pick<Elements, "chooser" | "hubId" | "hubStatus">,
  model: ChosenModel,
): () => void {
  const { name, elsewhere = "" } = model;
  let isAsked = false;
  return () => {
    ui.chooser.open = true;
    ui.hubId.value = addressOf(model);
    setTranslatedText(ui.hubStatus, () => phrase("elsewhere", { name, host: elsewhere }));
    if (isAsked) ui.hubId.focus(); // this also scrolls it into view
    isAsked = true;
  };
}
