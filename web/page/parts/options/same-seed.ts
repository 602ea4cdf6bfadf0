// The same again: the seed of what was written last, to be put in by one press.
import { plainButton, setEnabled } from "../../dom/buttons.js";
import { elements as ui } from "../../dom/elements.js";
import { phrase } from "../../language/editor.js";
import { keepTold } from "../../language/told.js";
import { say } from "../../state/messages.js";
import { isWriting, lastSeed, onWriting } from "../../assistant/writing.js";

/** Offers it beside the field, once there is one. */
export function offerSameSeed(): void {
  const field = ui.controls.querySelector<HTMLInputElement>("#option-seed");
  const button = plainButton("", () => {
    if (!field) return;
    field.value = String(lastSeed());
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    const seed = field.value;
    say(() => phrase("seedTaken", { seed }));
  });
  field?.parentElement?.append(button);
  const show = () => {
    setEnabled(button, !isWriting()); // its seed is about to be another one
    const seed = lastSeed();
    button.hidden = seed === undefined;
    button.textContent = phrase("sameAgain");
    button.title = phrase("sameAgainHelp", { seed: String(seed) });
  };
  onWriting(show);
  keepTold(button, show);
}
