// Offers "Save as one file", which is fetched when it is asked for.
import { baseAddress } from "../../../src/shared/base-address.js";
import { onPress, setEnabled } from "../../dom/buttons.js";
import { elements as ui } from "../../dom/elements.js";
import { phrase } from "../../language/start.js";
import { put } from "../../language/told.js";
import { isAbort, messageOf } from "../../state/errors.js";

let folder: URL | undefined;

/** Saves what is offered, with a text for the page to begin with where one is given, and says how that goes. */
export async function saveModel(text?: string): Promise<void> {
  if (!folder || ui.save.ariaDisabled === "true") return;
  setEnabled(ui.save, false);
  try {
    const { save } = await import("./saving.js");
    await save(folder, text);
  } catch (error) {
    put(ui.saveStatus, () => (isAbort(error) ? "" : phrase("notSaved", { why: messageOf(error) })));
  } finally {
    setEnabled(ui.save, true);
  }
}

let isReady = false;

/** Offers to save the page with the model in `address`, relative to the page; not, where it is in no folder of this host. */
export function offerSaving(address: string | undefined): void {
  folder = address === undefined ? undefined : new URL(address, baseAddress());
  ui.saving.hidden = folder === undefined;
  put(ui.saveStatus, () => "");
  if (!isReady) onPress(ui.save, () => void saveModel());
  isReady = true;
}
