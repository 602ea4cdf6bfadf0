// Offers "Save as one file", which is fetched when it is asked for.
import { baseAddress } from "../../../src/shared/base-address.js";
import { onPress, setEnabled } from "../../dom/buttons.js";
import { elements as ui } from "../../dom/elements.js";
import { phrase } from "../../language/editor.js";
import { setTranslatedText } from "../../language/keep-translated.js";
import { isAbort, messageOf } from "../../state/errors.js";
import type { PageState } from "../../state/page-state.js";

/** The folder of the model that is loaded; undefined where it is in none of this host. */
function folderOf({ loaded, chosen }: PageState): URL | undefined {
  const { folder } = chosen.peek();
  return loaded.peek() && folder !== undefined ? new URL(folder, baseAddress()) : undefined;
}

/** Saves what is offered, with a text for the page to begin with where one is given, and says how that goes. */
export async function saveModel(state: PageState, text?: string): Promise<void> {
  const folder = folderOf(state);
  if (!folder || ui.save.ariaDisabled === "true") return;
  setEnabled(ui.save, false);
  try {
    const { save } = await import("./saving.js");
    await save(folder, text);
  } catch (error) {
    setTranslatedText(ui.saveStatus, () =>
      isAbort(error) ? "" : phrase("notSaved", { why: messageOf(error) }),
    );
  } finally {
    setEnabled(ui.save, true);
  }
}

/** Offers to save the page with each model of this host that is loaded. */
export function offerSaving(state: PageState): void {
  onPress(ui.save, () => void saveModel(state));
  state.loaded.subscribe((model) => {
    if (!model) return;
    ui.saving.hidden = folderOf(state) === undefined;
    setTranslatedText(ui.saveStatus, () => "");
  });
}
