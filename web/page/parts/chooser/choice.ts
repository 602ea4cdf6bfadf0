// The model that the page's address names: whether its reader has chosen it, and asking for that.
import { elements as ui } from "../../dom/elements.js";
import { pageAddress, viewOf } from "../../dom/view-address.js";
import { phrase } from "../../language/start.js";
import { put } from "../../language/told.js";
import { addressOf } from "../../models/chosen-model.js";
import type { ChosenModel } from "../../state/page-state.js";

/** The choice of this visit, so that a reload need not ask again. Others of the same host share the storage. */
const choiceKey = `gpt2-model ${location.pathname}`;

export function keepChoice(query: string): void {
  history.replaceState(null, "", (query || pageAddress()) + viewOf(location.hash));
  try {
    sessionStorage.setItem(choiceKey, query);
  } catch {
    // There is none, as in a sandboxed frame.
  }
}

/** Whether the page's reader chose what its address names. */
export function isChosen(): boolean {
  try {
    return sessionStorage.getItem(choiceKey) === location.search;
  } catch {
    return false;
  }
}

/** Asks before anything leaves for a host that only the page's address names: whoever made a link is not its reader. */
export function askForElsewhere(model: ChosenModel): void {
  const { name, elsewhere = "" } = model;
  ui.chooser.open = true;
  ui.hubId.value = addressOf(model);
  put(ui.hubStatus, () => phrase("elsewhere", { name, host: elsewhere }));
}
