// Offers "Save as one file", whose code is fetched on first use.
import { baseAddress } from "../../../src/shared/base-address.js";
import { onPress, setEnabled } from "../../dom/buttons.js";
import type { Elements } from "../../dom/elements.js";
import { phrase } from "../../language/editor.js";
import { setTranslatedText } from "../../language/keep-translated.js";
import { whyInFull } from "../../language/why.js";
import { isAbort } from "../../state/errors.js";
import type { PageState } from "../../state/page-state.js";

/** The folder of the loaded model; undefined if it is not a folder of this host. */
function folderOf({ loaded, chosen }: PageState): URL | undefined {
  const { folder } = chosen.peek();
  return loaded.peek() && folder !== undefined ? new URL(folder, baseAddress()) : undefined;
}

/** What shows how the saving goes. */
export type SaveElements = Pick<Elements, "save" | "saveStatus">;

/** Saves the page with the loaded model, and with `text` if given. Shows the progress. */
export async function saveModel(ui: SaveElements, state: PageState, text?: string): Promise<void> {
  const folder = folderOf(state);
  if (!folder || ui.save.ariaDisabled === "true") return;
  setEnabled(ui.save, false);
  try {
    const { save } = await import("./saving.js");
    await save(folder, ui.saveStatus, text);
  } catch (error) {
    setTranslatedText(ui.saveStatus, () =>
      isAbort(error) ? "" : phrase("notSaved", { why: whyInFull(error) }),
    );
  } finally {
    setEnabled(ui.save, true);
  }
}

/** Offers to save the page while a model of this host is loaded. */
export function offerSaving(ui: SaveElements & Pick<Elements, "saving">, state: PageState): void {
  onPress(ui.save, () => void saveModel(ui, state));
  state.loaded.subscribe((model) => {
    if (!model) return;
    ui.saving.hidden = folderOf(state) === undefined;
    setTranslatedText(ui.saveStatus, () => "");
  });
}
