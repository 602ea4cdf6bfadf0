// Offers "Save as one file" with the text. Loaded after the first paint, like the text.
import { plainButton, setEnabled } from "../../dom/buttons.js";
import { make } from "../../dom/make.js";
import { phrase } from "../../language/editor.js";
import { setTranslatedText } from "../../language/keep-translated.js";
import type { PageState } from "../../state/page-state.js";
import { saveModel, type SaveElements } from "./offer.js";

/** `textToSave` returns the text in the form that the saved page reads, or undefined. */
export function offerSavingWithText(
  ui: SaveElements,
  state: PageState,
  textToSave: () => string | undefined,
): void {
  const button = plainButton("", () => void save());
  async function save(): Promise<void> {
    setEnabled(button, false);
    await saveModel(ui, state, textToSave());
    setEnabled(button, true);
  }
  button.setAttribute("aria-describedby", ui.saveStatus.id);
  setTranslatedText(button, () => phrase("saveWithText"));
  const help = make("small");
  setTranslatedText(help, () => phrase("saveWithTextHelp"));
  ui.save.after(button, help);
}
