// A button that enters the seed of the last run, to write the same again.
import { effect } from "@preact/signals-core";
import type { Writing } from "../../assistant/writing.js";
import { plainButton, setEnabled } from "../../dom/buttons.js";
import { phrase } from "../../language/editor.js";
import { keepTranslated } from "../../language/keep-translated.js";
import { onChange, type PageState } from "../../state/page-state.js";

/** Offers the button beside the field for the seed, which is in `controls`, once there is a seed. */
export function offerSameSeed(controls: HTMLElement, state: PageState, writing: Writing): void {
  const field = controls.querySelector<HTMLInputElement>("#option-seed");
  const button = plainButton("", () => {
    if (!field) return;
    field.value = String(writing.lastSeed);
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    const seed = field.value;
    state.say(() => phrase("seedTaken", { seed }));
  });
  field?.parentElement?.append(button);
  const show = (isWriting: boolean) => {
    setEnabled(button, !isWriting); // a new run will have another seed
    const seed = writing.lastSeed;
    button.classList.toggle("later", seed === undefined); // its room is reserved, so that nothing moves when it appears
    button.textContent = phrase("sameAgain", { seed: String(seed) });
    button.title = phrase("sameAgainHelp", { seed: String(seed) });
  };
  effect(() => show(state.isWriting));
  onChange(state.text, () => show(state.activity.peek().kind === "writing")); // another text has another seed
  keepTranslated(button, () => show(state.activity.peek().kind === "writing"));
}
