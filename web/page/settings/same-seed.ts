// The same again: the seed of what was written last, to be put in by one press.
import { plainButton, setEnabled } from "../buttons.js";
import { elements as ui } from "../elements.js";
import { phrase } from "../language/editor.js";
import { say } from "../messages.js";
import { isWriting, lastWritten, onWriting } from "../writing.js";

/** Offers it beside the field, once there is one. */
export function offerSameSeed(): void {
  const field = ui.controls.querySelector<HTMLInputElement>("#option-seed");
  const lastSeed = () => String(lastWritten()?.options.seed ?? "");
  const button = plainButton(phrase("sameAgain"), () => {
    if (!field) return;
    field.value = lastSeed();
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    say(phrase("seedTaken", { seed: field.value }));
  });
  button.hidden = true;
  field?.parentElement?.append(button);
  onWriting(() => {
    setEnabled(button, !isWriting()); // its seed is about to be another one
    const seed = lastSeed();
    button.hidden = seed === "";
    button.title = phrase("sameAgainHelp", { seed });
  });
}
