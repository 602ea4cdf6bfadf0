// The option that lets a screen reader announce the model's text while it is written. The browser keeps the choice.
import { phrase } from "../../language/editor.js";
import { setTranslatedText } from "../../language/keep-translated.js";
import { hasFlag, storeFlag } from "../../state/stored-flags.js";
import { silence, type Speech } from "./speech.js";

/** Adds the option to `controls`; switching it off hushes `speech`, and so does Escape: the model is ahead of its reader. */
export function offerReadingAloud(controls: HTMLElement, speech: Pick<Speech, "hush">): void {
  const control = document.createElement("div");
  control.className = "control";
  const label = document.createElement("label");
  setTranslatedText(label, () => phrase("readAloud"));
  const help = document.createElement("small");
  help.id = "read-aloud-help";
  setTranslatedText(help, () => phrase("readAloudHelp"));
  const box = document.createElement("input");
  box.type = "checkbox";
  box.checked = !hasFlag(silence);
  box.id = label.htmlFor = "read-aloud";
  box.setAttribute("aria-describedby", help.id);
  box.addEventListener("input", () => {
    storeFlag(silence, !box.checked);
    if (!box.checked) speech.hush();
  });
  document.addEventListener("keydown", ({ key }) => {
    if (key === "Escape") speech.hush();
  });
  control.append(label, box, help);
  controls.append(control);
}
