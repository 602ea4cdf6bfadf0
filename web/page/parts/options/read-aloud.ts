// Whether a screen reader is to say what the model writes, as it is written.
import { elements as ui } from "../../dom/elements.js";
import { isKept, keep } from "../../state/kept-choice.js";
import { silence, speech } from "../../state/speech.js";

export function offerReadingAloud(): void {
  ui.readAloud.checked = !isKept(silence);
  ui.readAloud.addEventListener("input", () => {
    keep(silence, !ui.readAloud.checked);
    if (!ui.readAloud.checked) speech.hush();
  });
}
