// Offers "Save as one file" with the text, too. It comes after the first paint, as the text does.
import { plainButton, setEnabled } from "../../dom/buttons.js";
import { elements as ui } from "../../dom/elements.js";
import { phrase } from "../../language/editor.js";
import { put } from "../../language/told.js";
import { saveModel } from "./offer.js";

export function offerSavingWithText(): void {
  const button = plainButton("", () => void save());
  async function save(): Promise<void> {
    setEnabled(button, false);
    await saveModel(true);
    setEnabled(button, true);
  }
  button.setAttribute("aria-describedby", ui.saveStatus.id);
  put(button, () => phrase("saveWithText"));
  ui.save.after(button);
}
