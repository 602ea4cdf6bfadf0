// The option that lets a screen reader announce the model's text while it is written. The browser keeps the choice.
import { make } from "../../dom/make.js";
import { phrase } from "../../language/editor.js";
import { setTranslatedText } from "../../language/keep-translated.js";
import { hasFlag, storeFlag } from "../../state/stored-flags.js";
import { silence, type Speech } from "./speech.js";

/**
 * Adds the option to `controls`. Switching it off silences `speech`, and so does Escape, because `speech` may still read when the
 * model has finished.
 */
export function offerReadingAloud(controls: HTMLElement, speech: Pick<Speech, "hush">): void {
  const box = make("input", { type: "checkbox", id: "read-aloud", checked: !hasFlag(silence) });
  const label = make("label", { htmlFor: box.id });
  setTranslatedText(label, () => phrase("readAloud"));
  const help = make("small", { id: "read-aloud-help" });
  setTranslatedText(help, () => phrase("readAloudHelp"));
  box.setAttribute("aria-describedby", help.id);
  box.addEventListener("input", () => {
    storeFlag(silence, !box.checked);
    if (!box.checked) speech.hush();
  });
  document.addEventListener("keydown", ({ key }) => {
    if (key === "Escape") speech.hush();
  });
  controls.append(make("div", { className: "control" }, label, box, help));
}
